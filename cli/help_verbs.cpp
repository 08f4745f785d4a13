// SPDX-License-Identifier: Apache-2.0
// The verbs with which the command line explains itself.
#include <array>
#include <cstdio>

#include "cli/command_line.h"
#include "cli/help.h"
#include "cli/verb.h"

namespace deuteron {

void add_help(CommandLine& line) {
  struct Asked {
    std::string verb, shell;
  };
  auto asked = std::make_shared<Asked>();
  const auto print = [](const std::string& text) {
    return std::fputs(text.c_str(), stdout), kDone;
  };
  Verb help = line.add("help", "explain a verb and its options", "deuteron help compile",
                       [&line, asked, print] {
                         if (asked->verb.empty()) return print(help_text(line.facts()));
                         const std::string unknown = line.unknown_verb(asked->verb);
                         return unknown.empty() ? print(help_text(line.facts_of(asked->verb)))
                                                : refuse_usage(unknown);
                       });
  help.option("verb", asked->verb, "the verb to explain").value("VERB");
  line.add("version", "print the version", "deuteron version",
           [print] { return print("deuteron " DEUTERON_VERSION "\n"); });
  Verb complete =
      line.add("completions", "print shell completions for verbs, options and their values",
               "source <(deuteron completions bash)",
               [&line, asked, print] { return print(completions(asked->shell, line.facts())); });
  complete.option("shell", asked->shell, "bash, zsh or fish")
      .value("SHELL")
      .required()
      .one_of({"bash", "zsh", "fish"});
  Verb man = line.add("man", "print the manual page, of all verbs or of one",
                      "deuteron man >deuteron.1", [&line, asked, print] {
                        if (asked->verb.empty()) return print(manual_page(line.facts()));
                        const std::string unknown = line.unknown_verb(asked->verb);
                        if (!unknown.empty()) return refuse_usage(unknown);
                        const std::array page{line.facts_of(asked->verb)};
                        return print(manual_page(page));
                      });
  man.option("verb", asked->verb, "the verb to print").value("VERB");
}

}  // namespace deuteron

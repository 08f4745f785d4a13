// SPDX-License-Identifier: Apache-2.0
#include "cli/help.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

namespace deuteron {
namespace {

constexpr size_t kColumns = 100, kTextColumn = 30;
constexpr std::string_view kWhat = "Compiles trained networks to int8 for microcontrollers.";
constexpr std::string_view kVerbosity = "-v prints more, -q only warnings and errors.";
constexpr std::string_view kExitCodes =
    "Exit codes: 0 success, 1 something is wrong with the input, 2 wrong usage, 3 a bug in "
    "deuteron.";

// The words of `text` in lines up to kColumns, which begin `indent` columns in but for the first:
// that is at column `at` already.
std::string wrapped(std::string_view text, size_t at, size_t indent) {
  std::string out;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find(' ', begin), text.size());
    const std::string_view word = text.substr(begin, end - begin);
    if (begin > 0) {
      const bool fits = at + 1 + word.size() <= kColumns;
      out += fits ? " " : "\n" + std::string(indent, ' ');
      at = fits ? at + 1 : indent;
    }
    out += word;
    at += word.size();
    begin = end + 1;
  }
  return out;
}

// "  name   text": the text begins in a line of its own where the name is too long.
std::string entry(const std::string& name, std::string_view text, size_t text_column) {
  std::string line = "  " + name;
  if (line.size() + 2 > text_column) line += "\n" + std::string(text_column, ' ');
  else line.resize(text_column, ' ');
  return line + wrapped(text, text_column, text_column) + "\n";
}

std::string spelled(const OptionFacts& o) {
  const std::string name = o.is_placed        ? o.name
                           : o.letter.empty() ? o.name
                                              : o.letter + ", " + o.name;
  return o.is_flag || o.is_placed ? name : name + " " + o.value;
}

std::vector<std::string> titles_of(const VerbFacts& verb) {
  std::vector<std::string> titles;
  for (const OptionFacts& o : verb.options)
    if (!o.is_placed && std::ranges::find(titles, o.group) == titles.end())
      titles.push_back(o.group);
  return titles;
}

std::string usage_of(const VerbFacts& verb) {
  std::string text = "deuteron " + verb.name;
  for (const OptionFacts& o : verb.options)
    if (o.is_placed)
      text += fmt::format("{}{}{}{}", o.is_required ? " " : " [", o.name, o.is_list ? "..." : "",
                          o.is_required ? "" : "]");
  for (const OptionFacts& o : verb.options)
    if (!o.is_placed && o.is_required)
      text += " " + (o.letter.empty() ? o.name : o.letter) + " " + o.value;
  return text + " [options]";
}

std::vector<std::string> names_of(std::span<const VerbFacts> verbs) {
  std::vector<std::string> names;
  for (const VerbFacts& v : verbs) names.push_back(v.name);
  return names;
}

std::vector<std::string> spellings_of(const VerbFacts& verb) {
  std::vector<std::string> all{"--help", "-v", "-q"};
  for (const OptionFacts& o : verb.options) {
    if (!o.is_placed) all.push_back(o.name);
    if (!o.letter.empty()) all.push_back(o.letter);
  }
  return all;
}

std::string bash_completions(std::span<const VerbFacts> verbs) {
  std::string values, names;
  for (const VerbFacts& v : verbs) {
    names += fmt::format("    {}) words=\"{}\" ;;\n", v.name, fmt::join(spellings_of(v), " "));
    for (const OptionFacts& o : v.options)
      if (!o.words.empty())
        values += fmt::format("    {}) words=\"{}\" ;;\n",
                              o.is_placed ? v.name + ":" + v.name : v.name + ":" + o.name,
                              fmt::join(o.words, " "));
  }
  return fmt::format(
      "# deuteron: completions for bash: "
      "deuteron completions bash >/etc/bash_completion.d/deuteron\n"
      R"(_deuteron() {{
  local word="${{COMP_WORDS[COMP_CWORD]}}" verb="${{COMP_WORDS[1]}}" words=""
  if [ "$COMP_CWORD" = 1 ]; then
    COMPREPLY=($(compgen -W "{}" -- "$word"))
    return
  fi
  case "$verb:${{COMP_WORDS[COMP_CWORD-1]}}" in
{}  esac
  [ -n "$words" ] || case "$word" in -*) case "$verb" in
{}  esac ;; esac
  if [ -n "$words" ]; then COMPREPLY=($(compgen -W "$words" -- "$word"))
  else COMPREPLY=($(compgen -f -- "$word")); fi
}}
complete -o filenames -F _deuteron deuteron
)",
      fmt::join(names_of(verbs), " "), values, names);
}

std::string fish_quoted(std::string_view text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("\\'") : std::string(1, c);
  return out + "'";
}

std::string fish_completions(std::span<const VerbFacts> verbs) {
  std::string text =
      "# deuteron: completions for fish: deuteron completions fish "
      ">~/.config/fish/completions/deuteron.fish\n";
  for (const VerbFacts& v : verbs) {
    text += fmt::format("complete -c deuteron -n __fish_use_subcommand -f -a {} -d {}\n", v.name,
                        fish_quoted(v.what));
    for (const OptionFacts& o : v.options) {
      const std::string when =
          fmt::format("complete -c deuteron -n '__fish_seen_subcommand_from {}'", v.name);
      const std::string values =
          o.words.empty()
              ? ""
              : fmt::format(" -f -a {}", fish_quoted(fmt::format("{}", fmt::join(o.words, " "))));
      if (o.is_placed && !values.empty()) text += when + values + "\n";
      if (o.is_placed) continue;
      const std::string letter = o.letter.empty() ? "" : " -s " + o.letter.substr(1);
      text += fmt::format("{}{} -l {}{}{} -d {}\n", when, letter, o.name.substr(2),
                          o.is_flag ? "" : " -r", values,
                          fish_quoted(std::string_view(o.help).substr(0, o.help.find(';'))));
    }
  }
  return text;
}

// Of roff: a backslash, and a dot or an apostrophe at the beginning of a line.
std::string as_roff(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if ((c == '.' || c == '\'') && (out.empty() || out.back() == '\n')) out += "\\&";
    out += c == '\\' ? std::string("\\e") : c == '-' ? std::string("\\-") : std::string(1, c);
  }
  return out;
}

}  // namespace

std::string help_text(const VerbFacts& verb) {
  std::string text =
      fmt::format("{}\n\nUsage: {}\n", wrapped(verb.what, 0, 0), wrapped(usage_of(verb), 7, 9));
  for (const OptionFacts& o : verb.options)
    if (o.is_placed) text += "\n" + entry(o.name, o.help, kTextColumn);
  for (const std::string& title : titles_of(verb)) {
    text += "\n" + title + ":\n";
    for (const OptionFacts& o : verb.options)
      if (!o.is_placed && o.group == title) text += entry(spelled(o), o.help, kTextColumn);
  }
  return text + "\n" + wrapped(kVerbosity, 0, 0) + "\n\nExample:\n  " + verb.example + "\n";
}

std::string help_text(std::span<const VerbFacts> verbs) {
  std::string text = fmt::format("{}\n\nUsage: deuteron VERB [options]\n\n", kWhat);
  for (const VerbFacts& v : verbs) text += entry(v.name, v.what, 15);
  return text +
         fmt::format("\n`deuteron help VERB` explains a verb's options, with an example. {}\n{}\n",
                     kVerbosity, kExitCodes);
}

std::string completions(std::string_view shell, std::span<const VerbFacts> verbs) {
  if (shell == "fish") return fish_completions(verbs);
  return (shell == "zsh" ? "autoload -U +X bashcompinit && bashcompinit\n" : "") +
         bash_completions(verbs);
}

std::string manual_page(std::span<const VerbFacts> verbs) {
  std::string text = fmt::format(
      ".TH DEUTERON 1 \"\" \"deuteron {}\"\n.SH NAME\ndeuteron \\- compiles networks for "
      "microcontrollers\n"
      ".SH SYNOPSIS\n.B deuteron\nVERB [options]\n.SH DESCRIPTION\n{}\n",
      DEUTERON_VERSION, as_roff(kWhat));
  for (const VerbFacts& v : verbs) {
    text += fmt::format(".SH {}\n{}.\n.PP\n{}\n", v.name, as_roff(v.what), as_roff(usage_of(v)));
    for (const OptionFacts& o : v.options)
      text += fmt::format(".TP\n.B {}\n{}\n", as_roff(spelled(o)), as_roff(o.help));
    text += fmt::format(".PP\nExample: {}\n", as_roff(v.example));
  }
  text += ".SH VERBOSITY\n" + as_roff(kVerbosity) + "\n";
  return text + ".SH EXIT STATUS\n" + as_roff(kExitCodes) + "\n";
}

}  // namespace deuteron

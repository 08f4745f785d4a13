#include "tools/command_line.h"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <cstdio>

#include "targets/nearest.h"
#include "tools/verb.h"

namespace deuteron {

Option& Option::value(const char* text) { return option_->option_text(text), *this; }
Option& Option::required() { return option_->required(), *this; }
Option& Option::one_each() { return option_->allow_extra_args(false), *this; }
Option& Option::commas() { return option_->delimiter(','), *this; }
Option& Option::group(const char* title) { return option_->group(title), *this; }
Option& Option::positive() { return option_->check(CLI::PositiveNumber), *this; }
Option& Option::not_negative() { return option_->check(CLI::NonNegativeNumber), *this; }
Option& Option::between(int least, int most) { return option_->check(CLI::Range(least, most)), *this; }
Option& Option::one_of(std::vector<std::string> words) { return option_->check(CLI::IsMember(std::move(words))), *this; }
Option& Option::check(std::function<std::string(const std::string&)> complaint) { return option_->check(std::move(complaint)), *this; }

Option Verb::option(const std::string& names, std::string& value, const std::string& help) {
  return Option(app_->add_option(names, value, help));
}
Option Verb::option(const std::string& names, std::vector<std::string>& values, const std::string& help) {
  return Option(app_->add_option(names, values, help));
}
Option Verb::option(const std::string& names, int& value, const std::string& help) { return Option(app_->add_option(names, value, help)); }
Option Verb::option(const std::string& names, int64_t& value, const std::string& help) {
  return Option(app_->add_option(names, value, help));
}
Option Verb::option(const std::string& names, uint32_t& value, const std::string& help) {
  return Option(app_->add_option(names, value, help));
}
Option Verb::option(const std::string& names, size_t& value, const std::string& help) {
  return Option(app_->add_option(names, value, help));
}
Option Verb::option(const std::string& names, float& value, const std::string& help) {
  return Option(app_->add_option(names, value, help));
}
Option Verb::option(const std::string& names, double& value, const std::string& help) {
  return Option(app_->add_option(names, value, help));
}
Option Verb::option(const std::string& names, std::vector<float>& values, const std::string& help) {
  return Option(app_->add_option(names, values, help));
}
Option Verb::flag(const std::string& names, bool& value, const std::string& help) { return Option(app_->add_flag(names, value, help)); }

CommandLine::CommandLine()
    : app_(std::make_unique<CLI::App>("Makes a trained PyTorch model run as int8 on a microcontroller.", "deuteron")) {
  app_->set_version_flag("--version", std::string("deuteron " DEUTERON_VERSION));
  app_->footer(
      "`deuteron VERB --help` says more and gives an example. Exit codes: 0 done, 1 a fault of the input, 2 wrong usage, 3 a fault of "
      "deuteron.");
  app_->require_subcommand(1);
}
CommandLine::~CommandLine() = default;

Verb CommandLine::add(const char* name, const char* what, const char* example, std::function<int()> run) {
  CLI::App* verb = app_->add_subcommand(name, what);
  verb->footer(std::string("Example:\n  ") + example);
  verb->callback([this, run = std::move(run)] { chosen_ = run; });
  return Verb(verb);
}

int CommandLine::run(int argc, char** argv) {
  // CLI11 would say that a verb is required, whatever stands there.
  std::vector<std::string> verbs;
  for (const CLI::App* verb : app_->get_subcommands({})) verbs.push_back(verb->get_name());
  if (argc > 1 && argv[1][0] != '-' && std::find(verbs.begin(), verbs.end(), argv[1]) == verbs.end()) {
    std::fprintf(stderr, "deuteron: error: there is no verb `%s`: %s\n    `deuteron --help` says what each does\n", argv[1],
                 suggestion(argv[1], verbs).c_str());
    return kWrongUsage;
  }
  try {
    app_->parse(argc, argv);
  } catch (const CLI::ParseError& e) { return app_->exit(e) == 0 ? kDone : kWrongUsage; }
  return chosen_();
}

}  // namespace deuteron

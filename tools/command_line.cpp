// SPDX-License-Identifier: Apache-2.0
#include "tools/command_line.h"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <cstdio>

#include "base/printable.h"
#include "data/option_number.h"
#include "targets/nearest.h"
#include "tools/verb.h"

namespace deuteron {

Option& Option::value(const char* text) { return option_->option_text(text), *this; }
Option& Option::required() { return option_->required(), *this; }
Option& Option::one_each() { return option_->allow_extra_args(false), *this; }
Option& Option::group(const char* title) { return option_->group(title), *this; }
Option& Option::positive() { return range_->least = 1, range_->sign = NumberRange::Sign::positive, *this; }
Option& Option::not_negative() { return range_->least = 0, range_->sign = NumberRange::Sign::not_negative, *this; }
Option& Option::not_zero() { return range_->sign = NumberRange::Sign::not_zero, *this; }
Option& Option::between(int least, int most) { return range_->least = least, range_->most = most, *this; }
Option& Option::at_most(double most) { return range_->largest = most, *this; }
Option& Option::one_of(std::vector<std::string> words) { return option_->check(CLI::IsMember(std::move(words))), *this; }
Option& Option::check(std::function<std::string(const std::string&)> complaint) { return option_->check(std::move(complaint)), *this; }

namespace {

std::string complaint_of_text(const std::string& text) { return text.empty() ? "the value is empty" : ""; }

// CLI11 converts what has been checked; by itself it would take nan, hexadecimal and octal numbers, and print limits with 309 digits.
template <class T>
Option number_option(CLI::App* app, const std::string& names, T& value, const std::string& help) {
  auto range = std::make_shared<NumberRange>(range_of<T>());
  CLI::Option* option = app->add_option(names, value, help);
  option->check([range](const std::string& text) { return complaint_of(*range, text); });
  return Option(option, range);
}

}  // namespace

Option Verb::option(const std::string& names, std::string& value, const std::string& help) {
  return Option(app_->add_option(names, value, help)->check(complaint_of_text));
}
Option Verb::option(const std::string& names, std::vector<std::string>& values, const std::string& help) {
  return Option(app_->add_option(names, values, help)->check(complaint_of_text));
}
Option Verb::option(const std::string& names, int& value, const std::string& help) { return number_option(app_, names, value, help); }
Option Verb::option(const std::string& names, int64_t& value, const std::string& help) { return number_option(app_, names, value, help); }
Option Verb::option(const std::string& names, uint32_t& value, const std::string& help) { return number_option(app_, names, value, help); }
Option Verb::option(const std::string& names, size_t& value, const std::string& help) { return number_option(app_, names, value, help); }
Option Verb::option(const std::string& names, float& value, const std::string& help) { return number_option(app_, names, value, help); }
Option Verb::option(const std::string& names, double& value, const std::string& help) { return number_option(app_, names, value, help); }
Option Verb::option(const std::string& names, std::vector<float>& values, const std::string& help) {
  auto range = std::make_shared<NumberRange>(range_of<float>());
  const auto take = [&values](const std::vector<std::string>& lists) {
    values.clear();
    for (const std::string& list : lists)
      for_each_part(list, [&](std::string_view text) { values.push_back(static_cast<float>(real_of(text))); });
  };
  CLI::Option* option = app_->add_option_function<std::vector<std::string>>(names, take, help);
  option->check([range](const std::string& list) { return complaint_of_list(*range, list); });
  return Option(option, range);
}
Option Verb::number_or(const std::string& word, int64_t meaning, const std::string& names, int64_t& value, const std::string& help) {
  auto range = std::make_shared<NumberRange>(range_of<int64_t>());
  const auto take = [&value, word, meaning](const std::string& text) { value = text == word ? meaning : std::stoll(text); };
  CLI::Option* option = app_->add_option_function<std::string>(names, take, help);
  option->check([range, word](const std::string& text) {
    const std::string complaint = text == word ? "" : complaint_of(*range, text);
    return complaint.empty() ? complaint : complaint + ", nor `" + word + "`";
  });
  return Option(option, range);
}
Option Verb::flag(const std::string& names, bool& value, const std::string& help) { return Option(app_->add_flag(names, value, help)); }

CommandLine::CommandLine(std::function<void(size_t)> limit_memory)
    : app_(std::make_unique<CLI::App>("Makes a trained PyTorch model run as int8 on a microcontroller.", "deuteron")),
      limit_memory_(std::move(limit_memory)) {
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
  if (limit_memory_)
    Verb(verb)
        .option("--max-memory", max_memory_, "Memory that this command may have for its data; where it needs more it ends with an error")
        .value("BYTES")
        .positive();
  return Verb(verb);
}

std::vector<OptionFacts> CommandLine::options_of(const std::string& verb) const {
  std::vector<OptionFacts> all;
  for (const CLI::Option* o : app_->get_subcommand(verb)->get_options()) {
    if (o->get_lnames().empty() && o->get_positional())
      all.push_back({o->get_name(), o->get_option_text(), o->get_description(), "", false, false, true, o->get_required()});
    for (const std::string& name : o->get_lnames())
      if (name != "help")
        all.push_back({"--" + name, o->get_option_text(), o->get_description(), o->get_group(), o->get_expected_max() == 0,
                       o->get_expected_max() > 1, false, o->get_required()});
  }
  return all;
}

// Options of ExecuTorch's aot_arm_compiler that have no counterpart here, and why.
static std::string hint_of(int argc, char** argv) {
  constexpr std::pair<std::string_view, std::string_view> kOfOthers[] = {
      {"--quantize", "quantization is always on: a float model becomes int8 by --calibrate; leave --quantize out"},
      {"--delegate", "what the NPU of the target takes always goes there; leave --delegate out"},
      {"--model_name", "the model is a file, behind the verb: leave --model_name out"},
  };
  for (int k = 1; k < argc; ++k)
    for (const auto& [option, hint] : kOfOthers)
      if (argv[k] == option) return "\n    " + std::string(hint);
  return "";
}

int CommandLine::run(int argc, char** argv) {
  // CLI11 would say that a verb is required, whatever stands there.
  std::vector<std::string> verbs;
  for (const CLI::App* verb : app_->get_subcommands({})) verbs.push_back(verb->get_name());
  if (argc > 1 && argv[1][0] != '-' && std::find(verbs.begin(), verbs.end(), argv[1]) == verbs.end()) {
    std::fprintf(stderr, "deuteron: error: there is no verb `%s`: %s\n    `deuteron --help` says what each does\n",
                 printable(argv[1], Lines::escaped).c_str(), suggestion(argv[1], verbs).c_str());
    return kWrongUsage;
  }
  try {
    app_->parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    if (e.get_exit_code() == 0) return app_->exit(e), kDone;  // --help and --version
    return refuse_usage(printable(e.what(), Lines::escaped) + hint_of(argc, argv));
  }
  if (max_memory_ > 0) limit_memory_(max_memory_);
  return chosen_();
}

}  // namespace deuteron

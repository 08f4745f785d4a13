// SPDX-License-Identifier: Apache-2.0
#include "cli/command_line.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include <algorithm>
#include <cstdio>
#include <utility>

#include "base/data/option_number.h"
#include "base/printable.h"
#include "cli/help.h"
#include "cli/verb.h"
#include "targets/nearest.h"

namespace deuteron {

Option& Option::value(const char* text) { return option_->option_text(text), *this; }
Option& Option::required() { return option_->required(), *this; }
Option& Option::one_each() { return option_->allow_extra_args(false), *this; }
Option& Option::positive() {
  return range_->least = 1, range_->sign = NumberRange::Sign::positive, *this;
}
Option& Option::not_negative() {
  return range_->least = 0, range_->sign = NumberRange::Sign::not_negative, *this;
}
Option& Option::not_zero() { return range_->sign = NumberRange::Sign::not_zero, *this; }
Option& Option::between(int least, int most) {
  return range_->least = least, range_->most = most, *this;
}
Option& Option::at_most(double most) { return range_->largest = most, *this; }
Option& Option::one_of(std::vector<std::string> words) {
  // CLI11 keeps a check's description, and words_of() finds the words there again.
  const std::string description = fmt::format("{{{}}}", fmt::join(words, ","));
  option_->check(
      [words = std::move(words)](const std::string& text) {
        return std::ranges::find(words, text) != words.end()
                   ? ""
                   : fmt::format("there is no `{}`: {}", text, suggestion(text, words));
      },
      description);
  return *this;
}
Option& Option::check(std::function<std::string(const std::string&)> complaint) {
  return option_->check(std::move(complaint)), *this;
}

namespace {

std::vector<std::string> words_of(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  const size_t begin = type.rfind('{'), end = type.rfind('}');
  std::vector<std::string> words;
  if (begin != type.npos && end != type.npos && begin < end)
    for_each_part(type.substr(begin + 1, end - begin - 1),
                  [&](std::string_view word) { words.emplace_back(word); });
  return words;
}

std::string complaint_of_text(const std::string& text) {
  return text.empty() ? "the value is empty" : "";
}

std::string name_of(const CLI::Option& option) {
  return option.get_lnames().empty() ? option.get_name() : "--" + option.get_lnames()[0];
}

}  // namespace

Option Verb::titled(CLI::Option* option, std::shared_ptr<NumberRange> range) {
  option->group(group_);
  return Option(option, std::move(range));
}
// CLI11 converts what has been checked; by itself it would take nan, hexadecimal and octal numbers,
// and print limits with 309 digits.
template <class T>
Option Verb::number(const std::string& names, T& value, const std::string& help) {
  auto range = std::make_shared<NumberRange>(range_of<T>());
  CLI::Option* option = app_->add_option(names, value, help);
  option->check([range](const std::string& text) { return complaint_of(*range, text); });
  return titled(option, range);
}

Option Verb::option(const std::string& names, std::string& value, const std::string& help) {
  return titled(app_->add_option(names, value, help)->check(complaint_of_text));
}
Option Verb::option(const std::string& names, std::vector<std::string>& values,
                    const std::string& help) {
  return titled(app_->add_option(names, values, help)->check(complaint_of_text));
}
Option Verb::option(const std::string& names, int& value, const std::string& help) {
  return number(names, value, help);
}
Option Verb::option(const std::string& names, int64_t& value, const std::string& help) {
  return number(names, value, help);
}
Option Verb::option(const std::string& names, uint32_t& value, const std::string& help) {
  return number(names, value, help);
}
Option Verb::option(const std::string& names, size_t& value, const std::string& help) {
  return number(names, value, help);
}
Option Verb::option(const std::string& names, float& value, const std::string& help) {
  return number(names, value, help);
}
Option Verb::option(const std::string& names, double& value, const std::string& help) {
  return number(names, value, help);
}
Option Verb::option(const std::string& names, std::vector<float>& values, const std::string& help) {
  auto range = std::make_shared<NumberRange>(range_of<float>());
  const auto take = [&values](const std::vector<std::string>& lists) {
    values.clear();
    for (const std::string& list : lists)
      for_each_part(list, [&](std::string_view text) {
        values.push_back(static_cast<float>(real_of(text)));
      });
  };
  CLI::Option* option = app_->add_option_function<std::vector<std::string>>(names, take, help);
  option->check([range](const std::string& list) { return complaint_of_list(*range, list); });
  return titled(option, range);
}
Option Verb::number_or(const std::string& word, int64_t meaning, const std::string& names,
                       int64_t& value, const std::string& help) {
  auto range = std::make_shared<NumberRange>(range_of<int64_t>());
  const auto take = [&value, word, meaning](const std::string& text) {
    value = text == word ? meaning : std::stoll(text);
  };
  CLI::Option* option = app_->add_option_function<std::string>(names, take, help);
  option->check([range, word](const std::string& text) {
    const std::string complaint = text == word ? "" : complaint_of(*range, text);
    return complaint.empty() ? complaint : complaint + ", nor `" + word + "`";
  });
  return titled(option, range);
}
Option Verb::flag(const std::string& names, bool& value, const std::string& help) {
  return titled(app_->add_flag(names, value, help));
}

CommandLine::CommandLine(std::function<void(size_t)> limit_memory)
    : app_(std::make_unique<CLI::App>("", "deuteron")), limit_memory_(std::move(limit_memory)) {
  app_->set_version_flag("--version", std::string("deuteron " DEUTERON_VERSION));
  app_->require_subcommand(1);
}
CommandLine::~CommandLine() = default;

Verb CommandLine::add(const char* name, const char* what, const char* example,
                      std::function<int()> run) {
  CLI::App* verb = app_->add_subcommand(name, what);
  verb->footer(example);
  verb->callback([this, run = std::move(run)] { chosen_ = run; });
  Verb added(verb);
  if (limit_memory_) {
    added.group("Limits");
    added
        .option("--max-memory", max_memory_,
                "limit the memory that this command uses for its data; needing more is an error")
        .value("BYTES")
        .positive();
    added.group("Options");
    verb->add_flag("-v", verbose_);  // help_text() says what they do
    verb->add_flag("-q", quiet_);
  }
  return added;
}

VerbFacts CommandLine::facts_of(const std::string& name) const {
  const CLI::App* verb = app_->get_subcommand(name);
  VerbFacts facts{name, verb->get_description(), verb->get_footer(), {}};
  std::vector<OptionFacts> limits;  // they come last
  for (const CLI::Option* o : verb->get_options()) {
    const bool is_placed = o->get_lnames().empty() && o->get_positional();
    if (!is_placed && (o->get_lnames().empty() || o->get_lnames()[0] == "help")) continue;
    OptionFacts f{name_of(*o), o->get_snames().empty() ? "" : "-" + o->get_snames()[0],
                  o->get_option_text(), o->get_description(), is_placed ? "" : o->get_group()};
    f.is_flag = o->get_expected_max() == 0;
    f.is_list = o->get_expected_max() > 1;
    f.is_placed = is_placed;
    f.is_required = o->get_required();
    f.words = words_of(*o);
    (f.group == "Limits" ? limits : facts.options).push_back(std::move(f));
  }
  facts.options.insert(facts.options.end(), limits.begin(), limits.end());
  return facts;
}

std::vector<VerbFacts> CommandLine::facts() const {
  std::vector<VerbFacts> all;
  for (const CLI::App* verb : app_->get_subcommands({})) all.push_back(facts_of(verb->get_name()));
  return all;
}

// Options of ExecuTorch's aot_arm_compiler that have no counterpart here, and why.
static std::string hint_of(int argc, char** argv) {
  constexpr std::pair<std::string_view, std::string_view> kOfOthers[] = {
      {"--quantize",
       "quantization is always on: a float model becomes int8 by --calibrate; leave --quantize "
       "out"},
      {"--delegate", "what the NPU of the target takes always goes there; leave --delegate out"},
      {"--model_name", "the model is a file, behind the verb: leave --model_name out"},
  };
  for (int k = 1; k < argc; ++k)
    for (const auto& [option, hint] : kOfOthers)
      if (argv[k] == option) return "\n    " + std::string(hint);
  return "";
}

std::string CommandLine::unknown_verb(const std::string& name) const {
  std::vector<std::string> verbs;
  for (const CLI::App* verb : app_->get_subcommands({})) verbs.push_back(verb->get_name());
  if (std::ranges::find(verbs, name) != verbs.end()) return "";
  return fmt::format("there is no verb `{}`: {}", printable(name, Lines::escaped),
                     suggestion(name, verbs));
}

// `targets cortex-m55` means `targets --show cortex-m55`: where a verb takes nothing by its place,
// what stands there is probably the value of its first option.
static std::string one_too_many(const VerbFacts& verb, const std::string& text) {
  const std::string name = printable(text, Lines::escaped);
  const auto option = std::ranges::find(verb.options, false, &OptionFacts::is_flag);
  if (std::ranges::any_of(verb.options, &OptionFacts::is_placed) || option == verb.options.end() ||
      option->group == "Limits")
    return fmt::format("`{}` is one argument too many", name);
  return fmt::format("{} takes no argument `{}`: did you mean `{} {}`?", verb.name, name,
                     option->name, name);
}

// An option or argument that the verb does not have: said before what is missing, which it may
// stand for. "": there is none.
std::string CommandLine::unknown_argument(const std::string& verb) const {
  const std::vector<std::string> extras = app_->remaining(true);
  if (extras.empty()) return "";
  const auto option =
      std::ranges::find_if(extras, [](const std::string& text) { return text.starts_with('-'); });
  if (verb.empty() || option == extras.end())
    return one_too_many(verb.empty() ? VerbFacts{} : facts_of(verb), extras.front());
  std::vector<std::string> names;
  for (const OptionFacts& o : facts_of(verb).options)
    if (!o.is_placed) names.push_back(o.name);
  const std::string near = nearest(*option, names).empty() ? "" : ": " + suggestion(*option, names);
  return fmt::format("{} has no option `{}`{}", verb, printable(*option, Lines::escaped), near);
}

// What CLI11 found wrong, in our own words where it has only words for programmers.
std::string CommandLine::complaint(const CLI::ParseError& e) const {
  const std::vector<CLI::App*> verbs = app_->get_subcommands();
  const CLI::App& verb = verbs.empty() ? *app_ : *verbs.front();
  const std::string what = e.what(), of = what.substr(0, what.find(": "));
  if (const std::string unknown = unknown_argument(verbs.empty() ? "" : verb.get_name());
      !unknown.empty())
    return unknown;
  if (dynamic_cast<const CLI::RequiredError*>(&e) != nullptr && !verbs.empty()) {
    std::vector<std::string> missing;
    for (const CLI::Option* o : verb.get_options())
      if (o->get_required() && o->count() == 0) missing.push_back(name_of(*o));
    if (!missing.empty())
      return fmt::format("{} {} required", fmt::join(missing, ", "),
                         missing.size() == 1 ? "is" : "are");
  }
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&e) != nullptr) {
    const CLI::Option* option = verb.get_option_no_throw(of);
    if (option != nullptr && option->get_expected_max() == 0) return of + " takes no value";
    return option != nullptr && option->count() > 1 ? of + " may be given once"
                                                    : of + " needs a value";
  }
  return printable(what, Lines::escaped);
}

int CommandLine::run(int argc, char** argv) {
  if (argc == 1) return std::fputs(help_text(facts()).c_str(), stdout), kDone;
  // CLI11 would say that a verb is required, whatever stands there.
  if (const std::string unknown = argv[1][0] == '-' ? "" : unknown_verb(argv[1]); !unknown.empty())
    return refuse_usage(unknown, "`deuteron --help` says what each does");
  try {
    app_->parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    const std::vector<CLI::App*> chosen = app_->get_subcommands();
    const std::string text =
        chosen.empty() ? help_text(facts()) : help_text(facts_of(chosen.front()->get_name()));
    return std::fputs(text.c_str(), stdout), kDone;
  } catch (const CLI::ParseError& e) {
    if (e.get_exit_code() == 0) return app_->exit(e), kDone;  // --version
    return refuse_usage(complaint(e) + hint_of(argc, argv));
  }
  if (verbose_ && quiet_) return refuse_usage("-v and -q are opposites: give one");
  if (verbose_) set_verbosity(Verbosity::verbose);
  if (quiet_) set_verbosity(Verbosity::quiet);
  if (max_memory_ > 0) limit_memory_(max_memory_);
  return chosen_();
}

}  // namespace deuteron

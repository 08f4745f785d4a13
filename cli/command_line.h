// SPDX-License-Identifier: Apache-2.0
// The command line: verbs, their options, and what --help says of them. A thin front of CLI11,
// whose headers only command_line.cpp includes: they cost each file five seconds.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
class ParseError;
}  // namespace CLI

namespace deuteron {

struct NumberRange;

// An option of a verb, to be described further. Numbers are plain decimals, texts are not empty.
class Option {
 public:
  explicit Option(CLI::Option* option, std::shared_ptr<NumberRange> range = nullptr)
      : option_(option), range_(std::move(range)) {}
  Option& value(const char* text);  // what --help says behind the name: "FILE"
  Option& required();
  Option& one_each();  // one value each time that the option is given, where it takes a list
  // Of numbers:
  Option& positive();
  Option& not_negative();
  Option& not_zero();
  Option& between(int least, int most);  // whole ones
  Option& at_most(double most);          // real ones
  Option& one_of(std::vector<std::string> words);
  Option& check(std::function<std::string(const std::string&)> complaint);  // "": the text is fine

 private:
  CLI::Option* option_;
  std::shared_ptr<NumberRange> range_;  // of an option that takes numbers
};

class Verb {
 public:
  explicit Verb(CLI::App* app) : app_(app) {}
  // `names`: "model" for a value by its place, "--target", or "-o,--output".
  Option option(const std::string& names, std::string& value, const std::string& help);
  Option option(const std::string& names, std::vector<std::string>& values,
                const std::string& help);
  Option option(const std::string& names, int& value, const std::string& help);
  Option option(const std::string& names, int64_t& value, const std::string& help);
  Option option(const std::string& names, uint32_t& value, const std::string& help);
  Option option(const std::string& names, size_t& value, const std::string& help);
  Option option(const std::string& names, float& value, const std::string& help);
  Option option(const std::string& names, double& value, const std::string& help);
  Option option(const std::string& names, std::vector<float>& values,
                const std::string& help);  // with commas between them
  // A number, or a word that stands for one.
  Option number_or(const std::string& word, int64_t meaning, const std::string& names,
                   int64_t& value, const std::string& help);
  Option flag(const std::string& names, bool& value, const std::string& help);
  // The options that follow stand under this title in --help.
  void group(const char* title) { group_ = title; }

 private:
  Option titled(CLI::Option* option, std::shared_ptr<NumberRange> range = nullptr);
  template <class T>
  Option number(const std::string& names, T& value, const std::string& help);
  CLI::App* app_;
  const char* group_ = "Options";
};

// What an option of a verb takes, for completions, man pages and callers that are no command line.
struct OptionFacts {
  std::string name;    // "--target"; of a value by its place "model"
  std::string letter;  // "-o", or ""
  std::string value;   // what --help says behind the name
  std::string help, group;
  bool is_flag = false;    // takes no value
  bool is_list = false;    // may be given several times
  bool is_placed = false;  // a value by its place
  bool is_required = false;
  std::vector<std::string> words = {};  // all that it takes, or none
};

struct VerbFacts {
  std::string name, what, example;
  std::vector<OptionFacts> options;
};

class CommandLine {
 public:
  // `limit_memory` is called with the bytes of --max-memory before a verb runs. Without it no verb
  // has that option, nor -v and -q: a process that lives on cannot take its limit back, and prints
  // nothing.
  explicit CommandLine(std::function<void(size_t)> limit_memory = nullptr);
  ~CommandLine();
  // `run` answers the exit code; it is called when the user has named the verb.
  Verb add(const char* name, const char* what, const char* example, std::function<int()> run);
  int run(int argc, char** argv);
  VerbFacts facts_of(const std::string& verb) const;  // of a verb that there is
  std::vector<VerbFacts> facts() const;
  std::string unknown_verb(
      const std::string& name) const;  // what is said of a verb that there is not; "": there is

 private:
  std::unique_ptr<CLI::App> app_;
  std::string complaint(const CLI::ParseError& e) const;
  std::string unknown_argument(const std::string& verb) const;
  std::function<int()> chosen_;
  std::function<void(size_t)> limit_memory_;
  size_t max_memory_ = 0;  // 0: as much as there is
  bool verbose_ = false, quiet_ = false;
};

// Adds `verb` with options of type T, which live as long as the command line.
template <class T>
Verb add_verb(CommandLine& line, const char* name, const char* what, const char* example,
              int (*run)(const T&), T*& options) {
  auto owned = std::make_shared<T>();
  options = owned.get();
  return line.add(name, what, example, [owned, run] { return run(*owned); });
}

}  // namespace deuteron

// SPDX-License-Identifier: Apache-2.0
// Sizes of a program that are computed of symbols. They become numbers as the symbols are found:
// from the sizes of the inputs, and, where a size follows from the elements of constants, at the
// node that makes it.
#pragma once
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "frontends/pt2/file/program.h"
#include "frontends/pt2/file/size_expression.h"

namespace deuteron::pt2 {

class OpenSizes {
 public:
  // The program outlives it.
  explicit OpenSizes(Program& program) : program_(program) {
    for (const DynamicSize& d : program.dynamic) ranges_.emplace(d.symbol, d);
  }

  bool knows(std::string_view symbol) const { return symbols_.contains(symbol); }
  // of one that is known
  i64 number_of(std::string_view symbol) const { return symbols_.find(symbol)->second; }
  void set(const std::string& symbol, i64 number) { symbols_[symbol] = number; }

  // An expression that has this value says what the one symbol in it is that has no number: 2*s0
  // = 8. Nothing where there is none, or several, or no whole number solves it.
  void solve(const std::string& expression, i64 value);
  // Nothing where a symbol has no number, or the value is no whole number of at most 2^40.
  std::optional<i64> value_of(std::string_view expression) const {
    return size_of(expression, symbols_);
  }
  std::optional<i64> computed(
      std::string_view name) const;  // of a computed size of the program, by its name

  // Sizes, strides and offset that are known become numbers; `dynamic` is what is left. The first
  // expression that has no value although all its symbols have one, or a negative one: nothing is
  // wrong where it is empty.
  std::string fix(TensorMeta& meta) const;
  std::string fix(const std::string& tensor) const;  // of the program, which has it
  // Likewise an argument that is a computed size, or a list with some, or a number out of a tensor.
  void fix(Argument& a) const;
  // Nodes that only compute or test sizes, or take numbers out of tensors, all of which are known.
  bool is_done(const ProgramNode& node) const;

  // Whether nothing but tests reads a computed size: what it is has no part in the program.
  bool is_only_tested(const std::string& size) const;
  void drop(const std::string& size) { dropped_.insert(size); }

  // A result turned out to have this shape, or a computed size this value: what follows for the
  // symbols. The range of one that the export forbids ("3..8"), empty: none.
  std::string learn(const std::string& tensor, const Shape& shape);
  std::string learn(const std::string& size, i64 value);
  // of a result that is a real number
  void learn_number(const std::string& name, double value) { numbers_[name] = value; }

 private:
  std::string broken_range(const std::string& expression) const;

  Program& program_;
  Symbols symbols_;
  std::set<std::string, std::less<>> dropped_;              // computed sizes that nobody needs
  std::map<std::string, double, std::less<>> numbers_;      // by the name of the result
  std::map<std::string, DynamicSize, std::less<>> ranges_;  // by symbol
};

}  // namespace deuteron::pt2

// SPDX-License-Identifier: Apache-2.0
#include "frontends/pt2/file/open_sizes.h"

#include <algorithm>

namespace deuteron::pt2 {

void OpenSizes::solve(const std::string& expression, i64 value) {
  const std::vector<std::string> names = symbols_in(expression);
  std::string unknown;
  for (const std::string& name : names) {
    if (symbols_.contains(name)) continue;
    if (!unknown.empty()) return;
    unknown = name;
  }
  if (unknown.empty()) return;
  Symbols trial = symbols_;
  trial[unknown] = 1;
  const auto one = size_of(expression, trial);
  trial[unknown] = 2;
  const auto two = size_of(expression, trial);
  if (!one || !two || *one == *two || (value - *one) % (*two - *one) != 0) return;
  symbols_[unknown] = 1 + (value - *one) / (*two - *one);
}

std::optional<i64> OpenSizes::computed(std::string_view name) const {
  const auto it = program_.sizes.find(name);
  return it == program_.sizes.end() ? std::nullopt : value_of(it->second);
}

std::string OpenSizes::fix(TensorMeta& meta) const {
  if (!meta.dynamic) return {};
  bool fixed = true;
  std::string fault;
  const auto take = [&](const std::string& expression, i64& number) {
    if (expression.empty()) return;
    const auto value = value_of(expression);
    if (value) number = *value;
    fixed = fixed && value && *value >= 0;
    const std::vector<std::string> names = symbols_in(expression);
    const bool all_known = std::all_of(names.begin(), names.end(),
                                       [&](const std::string& s) { return symbols_.contains(s); });
    if (fault.empty() && all_known && (!value || *value < 0)) fault = expression;
  };
  for (size_t k = 0; k < meta.size_expressions.size(); ++k)
    take(meta.size_expressions[k], meta.sizes[k]);
  for (size_t k = 0; k < meta.stride_expressions.size(); ++k)
    take(meta.stride_expressions[k], k < meta.strides.size() ? meta.strides[k] : meta.offset);
  meta.dynamic = !fixed;
  return fault;
}

std::string OpenSizes::fix(const std::string& tensor) const {
  return fix(program_.tensors.find(tensor)->second);
}

void OpenSizes::fix(Argument& a) const {
  if (a.kind != Argument::Kind::symbol && a.kind != Argument::Kind::symbols) return;
  if (a.is_number_symbol()) {
    if (const auto it = numbers_.find(a.names[0]); it != numbers_.end())
      a.kind = Argument::Kind::real, a.real = it->second, a.names.clear();
    return;
  }
  std::vector<i64> integers = a.integers;
  integers.resize(a.names.size());
  for (size_t k = 0; k < a.names.size(); ++k) {
    if (a.names[k].empty()) continue;
    const auto value = computed(a.names[k]);
    if (!value) return;
    integers[k] = *value;
  }
  a.kind = a.kind == Argument::Kind::symbols ? Argument::Kind::integers : Argument::Kind::integer;
  a.integers = std::move(integers);
  a.integer = a.integers[0];
  a.names.clear();
}

bool OpenSizes::is_done(const ProgramNode& node) const {
  const auto is_known = [&](const std::string& size) {
    return computed(size).has_value() || dropped_.contains(size);
  };
  const bool known = std::all_of(node.sizes.begin(), node.sizes.end(), is_known) &&
                     std::all_of(node.numbers.begin(), node.numbers.end(),
                                 [&](const std::string& name) { return numbers_.contains(name); });
  return node.outputs.empty() && known &&
         (!node.sizes.empty() || !node.numbers.empty() || node.is_test);
}

bool OpenSizes::is_only_tested(const std::string& size) const {
  const auto it = program_.sizes.find(size);
  if (it == program_.sizes.end()) return false;
  const std::vector<std::string> symbols = symbols_in(it->second);
  const auto has_symbol = [&](const std::string& expression) {
    const std::vector<std::string> found = symbols_in(expression);
    return std::any_of(found.begin(), found.end(), [&](const std::string& s) {
      return std::find(symbols.begin(), symbols.end(), s) != symbols.end();
    });
  };
  const auto depends = [&](const std::vector<std::string>& expressions) {
    return std::any_of(expressions.begin(), expressions.end(), has_symbol);
  };
  for (const auto& [name, expression] : program_.sizes)
    if (name != size && has_symbol(expression)) return false;
  for (const auto& [name, meta] : program_.tensors)
    if (depends(meta.size_expressions) || depends(meta.stride_expressions)) return false;
  return std::all_of(program_.nodes.begin(), program_.nodes.end(), [&](const ProgramNode& node) {
    return node.is_test ||
           std::none_of(node.arguments.begin(), node.arguments.end(), [&](const auto& argument) {
             const std::vector<std::string>& names = argument.second.names;
             return std::find(names.begin(), names.end(), size) != names.end();
           });
  });
}

std::string OpenSizes::broken_range(const std::string& expression) const {
  for (const std::string& name : symbols_in(expression)) {
    const auto range = ranges_.find(name);
    const auto found = symbols_.find(name);
    if (range == ranges_.end() || found == symbols_.end()) continue;
    const i64 number = found->second;
    if (number < range->second.low.value_or(number) || number > range->second.high.value_or(number))
      return range->second.range;
  }
  return {};
}

std::string OpenSizes::learn(const std::string& tensor, const Shape& shape) {
  const auto it = program_.tensors.find(tensor);
  if (it == program_.tensors.end() || !it->second.dynamic ||
      it->second.sizes.size() != shape.size())
    return {};
  for (size_t k = 0; k < shape.size(); ++k) {
    const std::string& expression = it->second.size_expressions[k];
    if (expression.empty() || value_of(expression)) continue;
    solve(expression, shape[k]);
    if (std::string range = broken_range(expression); !range.empty()) return range;
  }
  fix(it->second);
  return {};
}

std::string OpenSizes::learn(const std::string& size, i64 value) {
  const auto it = program_.sizes.find(size);
  if (it == program_.sizes.end() || value_of(it->second)) return {};
  solve(it->second, value);
  return broken_range(it->second);
}

}  // namespace deuteron::pt2

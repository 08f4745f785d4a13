// SPDX-License-Identifier: Apache-2.0
#include "frontends/pt2/number_types.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "frontends/pt2/operators/step_ports.h"

namespace deuteron::pt2 {
namespace {

constexpr i64 kFloat32 = 7;  // torch's code

bool is_other_float(std::optional<DType> d) {
  return d == DType::f16 || d == DType::bf16 || d == DType::f64;
}
bool is_small_integer(std::optional<DType> d) {
  return d == DType::u8 || d == DType::s8 || d == DType::s16;
}

void fix_floats(Program& program, const std::string& name, Diagnostics& diagnostics) {
  std::string first;
  int code = 0;
  const auto note = [&](const std::string& tensor) {
    const auto it = program.tensors.find(tensor);
    if (it != program.tensors.end() && first.empty() && is_other_float(it->second.dtype))
      first = tensor, code = it->second.dtype_code;
  };
  for (const ProgramInput& in : program.inputs)
    if (in.kind == ProgramInput::Kind::user) note(in.name);
  for (ProgramNode& node : program.nodes) {
    for (const std::string& out : node.outputs) note(out);
    for (auto& [key, argument] : node.arguments)
      if (argument.kind == Argument::Kind::dtype && is_other_float(dtype_of_code(argument.integer)))
        argument.integer = kFloat32;
  }
  for (auto& [tensor, meta] : program.tensors)
    if (is_other_float(meta.dtype)) meta.dtype = DType::f32;
  if (!first.empty())
    diagnostics.add({Severity::note, name,
                     fmt::format("computes in {}, `{}` is the first; the program is float32 there",
                                 name_of_code(code), first),
                     "", "", "pt2.dtype.float", ""});
}

// Results that are elements of the operand, whatever their type. By the operator's name, without
// overload.
constexpr std::string_view kMoves[] = {
    "alias",     "chunk",     "clone",   "contiguous",   "detach",
    "expand",    "flatten",   "flip",    "movedim",      "narrow",
    "permute",   "repeat",    "reshape", "select",       "slice",
    "split",     "squeeze",   "t",       "transpose",    "unbind",
    "unflatten", "unsqueeze", "view",    "unsafe_split", "split_with_sizes"};
// Those that read integers as positions or truth.
constexpr std::string_view kPositions[] = {"embedding", "gather", "index", "index_select",
                                           "one_hot"};

std::string_view operator_of(std::string_view target) {
  target.remove_prefix(std::min(target.find('.') + 1, target.size()));
  return target.substr(0, target.find('.'));
}
template <size_t N>
bool has(const std::string_view (&list)[N], std::string_view name) {
  return std::find(std::begin(list), std::end(list), name) != std::end(list);
}

class SmallIntegers {
 public:
  explicit SmallIntegers(Program& program) : program_(program) {}

  // The input's name and everything that is moved of it.
  void follow(const std::string& input) {
    names_ = {input};
    is_position_ = false;
    for (const ProgramNode& node : program_.nodes)
      if (std::any_of(node.arguments.begin(), node.arguments.end(),
                      [&](const auto& a) { return reads(a.second); }))
        visit(node);
  }
  void set(DType to) {
    for (const std::string& name : names_)
      if (const auto it = program_.tensors.find(name); it != program_.tensors.end())
        it->second.dtype = to;
  }
  bool is_position() const { return is_position_; }

 private:
  bool reads(const Argument& a) const {
    const auto known = [&](const std::string& name) {
      return std::find(names_.begin(), names_.end(), name) != names_.end();
    };
    if (a.kind == Argument::Kind::tensor) return known(a.text);
    return a.kind == Argument::Kind::tensors && std::any_of(a.names.begin(), a.names.end(), known);
  }

  void visit(const ProgramNode& node) {
    const std::string_view op = operator_of(node.target);
    if (has(kPositions, op)) is_position_ = true;
    for (const std::string& out : node.outputs) {
      const auto it = program_.tensors.find(out);
      if (it == program_.tensors.end()) continue;
      const auto dtype = it->second.dtype;
      if (dtype == DType::s32 || dtype == DType::s64) is_position_ = true;
      if (is_small_integer(dtype) && (has(kMoves, op) || op == "to")) names_.push_back(out);
    }
  }

  Program& program_;
  std::vector<std::string> names_;
  bool is_position_ = false;
};

void fix_small_integers(Program& program, const std::string& name, Diagnostics& diagnostics) {
  SmallIntegers integers(program);
  for (const ProgramInput& in : program.inputs) {
    const auto it = program.tensors.find(in.name);
    if (in.kind != ProgramInput::Kind::user || it == program.tensors.end() ||
        !is_small_integer(it->second.dtype))
      continue;
    if (it->second.dtype == DType::s8 && step_input(program, in.name)) continue;
    integers.follow(in.name);
    const DType to = integers.is_position() ? DType::s32 : DType::f32;
    diagnostics.add(
        {Severity::note, name,
         fmt::format(
             "input `{}` is {} in the model; the program takes the same whole numbers as {}",
             in.name, name_of_code(it->second.dtype_code), name_of(to)),
         "", "", "pt2.input.integers", to == DType::f32 ? "--io int8 makes it int8" : ""});
    integers.set(to);
  }
}

}  // namespace

void fix_number_types(Program& program, const std::string& name, Diagnostics& diagnostics) {
  fix_floats(program, name, diagnostics);
  fix_small_integers(program, name, diagnostics);
}

}  // namespace deuteron::pt2

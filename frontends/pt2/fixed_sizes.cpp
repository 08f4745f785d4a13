// SPDX-License-Identifier: Apache-2.0
#include "frontends/pt2/fixed_sizes.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace deuteron::pt2 {
namespace {

// torch takes 0 and 1 for special while it exports and says 2 for the lowest size; its programs
// take 1.
constexpr i64 kSpecialized = 2;

class Fixing {
 public:
  Fixing(Program& program, OpenSizes& sizes, const InputShapes& given, const std::string& name,
         Diagnostics& diagnostics)
      : program_(program), given_(given), name_(name), diagnostics_(diagnostics), sizes_(sizes) {}

  bool run() {
    for (const auto& [name, shape] : given_) take_given(name, shape);
    if (!ok_) return false;
    for (const ProgramInput& in : program_.inputs)
      if (const TensorMeta* meta = user_tensor(in); meta && !given_.contains(in.name))
        fix_batch(in.name, *meta);
    for (const auto& [name, shape] : given_) check_given(name, shape);
    for (const DynamicSize& d : program_.dynamic) check_range(d);
    leave_to_nodes();
    for (auto& [name, meta] : program_.tensors) fix(name, meta);
    for (ProgramNode& node : program_.nodes)
      for (auto& argument : node.arguments) sizes_.fix(argument.second);
    std::erase_if(program_.nodes, [&](const ProgramNode& node) { return sizes_.is_done(node); });
    std::erase_if(program_.dynamic, [&](const DynamicSize& d) { return sizes_.knows(d.symbol); });
    return ok_;
  }

 private:
  void error(std::string where, std::string what, std::string measured, std::string limit,
             const char* rule, std::string fix = {}) {
    diagnostics_.add({Severity::error, std::move(where), std::move(what), std::move(measured),
                      std::move(limit), rule, std::move(fix)});
    ok_ = false;
  }
  std::string where(const std::string& input) const {
    return fmt::format("{}: input `{}`", name_, input);
  }

  const TensorMeta* user_tensor(const ProgramInput& in) const {
    const auto it = program_.tensors.find(in.name);
    return in.kind == ProgramInput::Kind::user && it != program_.tensors.end() ? &it->second
                                                                               : nullptr;
  }
  const TensorMeta* input_of(const std::string& name) const {
    for (const ProgramInput& in : program_.inputs)
      if (in.name == name) return user_tensor(in);
    return nullptr;
  }
  static bool is_open(const TensorMeta& meta, size_t axis) {
    return axis < meta.size_expressions.size() && !meta.size_expressions[axis].empty();
  }

  // The user's sizes. An axis that stands for one unknown symbol says what it is: 2*s0 = 8.
  void take_given(const std::string& name, const Shape& shape) {
    const TensorMeta* meta = input_of(name);
    if (!meta)
      return error(name_, fmt::format("has no input `{}`, which --input-shape names", name), "", "",
                   "pt2.input.given", first_input());
    if (meta->sizes.size() != shape.size()) return differs(name, *meta, shape);
    for (size_t k = 0; k < shape.size(); ++k)
      if (is_open(*meta, k)) sizes_.solve(meta->size_expressions[k], shape[k]);
  }

  std::string first_input() const {
    for (const ProgramInput& in : program_.inputs)
      if (user_tensor(in)) return fmt::format("its first input is `{}`", in.name);
    return "";
  }

  void fix_batch(const std::string& input, const TensorMeta& meta) {
    if (!is_open(meta, 0)) return;
    const std::vector<std::string> names = symbols_in(meta.size_expressions[0]);
    if (names.size() != 1 || sizes_.knows(names[0]) ||
        size_of(meta.size_expressions[0], {{names[0], 1}}) != 1)
      return;
    for (const DynamicSize& d : program_.dynamic)
      if (d.symbol == names[0] && !takes(d, 1)) return;
    sizes_.set(names[0], 1);
    diagnostics_.add(
        {Severity::note, name_,
         fmt::format("input `{}` leaves the size of its first axis, `{}`, open: it is 1", input,
                     names[0]),
         "", "", "pt2.input.batch", "another one: --input-shape NAME=8,3,96,96"});
  }

  static bool takes(const DynamicSize& d, i64 size) {
    return size >= 1 && (!d.low || *d.low <= kSpecialized || size >= *d.low) &&
           (!d.high || size <= *d.high);
  }
  void check_range(const DynamicSize& d) {
    if (sizes_.knows(d.symbol) && !takes(d, sizes_.number_of(d.symbol)))
      error(name_, fmt::format("`{}` has another size than the export allows", d.symbol),
            std::to_string(sizes_.number_of(d.symbol)), d.range, "pt2.input.given");
  }

  void differs(const std::string& input, const TensorMeta& meta, const Shape& shape) {
    std::string limit;
    for (size_t k = 0; k < meta.sizes.size(); ++k)
      limit +=
          fmt::format("{}{}", k ? "," : "", is_open(meta, k) ? "?" : std::to_string(meta.sizes[k]));
    error(where(input), "has another shape than --input-shape says", to_text(shape), limit,
          "pt2.input.given");
  }
  void check_given(const std::string& input, const Shape& shape) {
    const TensorMeta& meta = *input_of(input);
    for (size_t k = 0; k < shape.size(); ++k)
      if ((is_open(meta, k) ? sizes_.value_of(meta.size_expressions[k])
                            : std::optional(meta.sizes[k])) != shape[k])
        return differs(input, meta, shape);
  }

  // A symbol that no input and no weight has comes from a node, and the walk is at that node before
  // it is at any that reads the size.
  void leave_to_nodes() {
    std::set<std::string, std::less<>> outside;
    for (const ProgramInput& in : program_.inputs)
      if (const auto it = program_.tensors.find(in.name); it != program_.tensors.end())
        for (const std::string& expression : it->second.size_expressions)
          for (std::string& symbol : symbols_in(expression)) outside.insert(std::move(symbol));
    std::erase_if(program_.dynamic,
                  [&](const DynamicSize& d) { return !outside.contains(d.symbol); });
  }

  void fix(const std::string& name, TensorMeta& meta) {
    if (!meta.dynamic) return;
    if (std::string fault = sizes_.fix(meta); !fault.empty())
      program_.dynamic.push_back({std::move(fault), name, 0, "", {}, {}});
    if (meta.dynamic) return;
    i64 elements = 1;
    for (const i64 extent : meta.sizes) {
      if (extent > kMaxElements || elements * extent > kMaxElements)
        return error(name_, fmt::format("`{}` has more than {} elements", name, kMaxElements), "",
                     "", "pt2.tensor.size");
      elements *= extent;
    }
  }

  Program& program_;
  const InputShapes& given_;
  const std::string& name_;
  Diagnostics& diagnostics_;
  OpenSizes& sizes_;
  bool ok_ = true;
};

}  // namespace

bool fix_sizes(Program& program, OpenSizes& sizes, const InputShapes& given,
               const std::string& name, Diagnostics& diagnostics) {
  return Fixing(program, sizes, given, name, diagnostics).run();
}

}  // namespace deuteron::pt2

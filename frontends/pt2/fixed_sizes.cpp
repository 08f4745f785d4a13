#include "frontends/pt2/fixed_sizes.h"

#include <fmt/format.h>

#include <algorithm>

#include "frontends/pt2_archive/size_expression.h"

namespace deuteron::pt2 {
namespace {

// torch takes 0 and 1 for special while it exports and says 2 for the lowest size; its programs take 1.
constexpr i64 kSpecialized = 2;

class Fixing {
 public:
  Fixing(Program& program, const InputShapes& given, const std::string& name, Diagnostics& diagnostics)
      : program_(program), given_(given), name_(name), diagnostics_(diagnostics) {}

  bool run() {
    for (const auto& [name, shape] : given_) take_given(name, shape);
    if (!ok_) return false;
    for (const ProgramInput& in : program_.inputs)
      if (const TensorMeta* meta = user_tensor(in); meta && !given_.contains(in.name)) fix_batch(in.name, *meta);
    for (const auto& [name, shape] : given_) check_given(name, shape);
    for (const DynamicSize& d : program_.dynamic) check_range(d);
    for (auto& [name, meta] : program_.tensors) fix(name, meta);
    for (ProgramNode& node : program_.nodes)
      for (auto& argument : node.arguments) fix(argument.second);
    drop_size_nodes();
    std::erase_if(program_.dynamic, [&](const DynamicSize& d) { return symbols_.contains(d.symbol); });
    return ok_;
  }

 private:
  void error(std::string where, std::string what, std::string measured, std::string limit, const char* rule, std::string fix = {}) {
    diagnostics_.add({Severity::error, std::move(where), std::move(what), std::move(measured), std::move(limit), rule, std::move(fix)});
    ok_ = false;
  }
  std::string where(const std::string& input) const { return fmt::format("{}: input `{}`", name_, input); }

  const TensorMeta* user_tensor(const ProgramInput& in) const {
    const auto it = program_.tensors.find(in.name);
    return in.kind == ProgramInput::Kind::user && it != program_.tensors.end() ? &it->second : nullptr;
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
      return error(name_, fmt::format("has no input `{}`, which --input-shape names", name), "", "", "pt2.input.given", first_input());
    if (meta->sizes.size() != shape.size()) return differs(name, *meta, shape);
    for (size_t k = 0; k < shape.size(); ++k)
      if (is_open(*meta, k)) solve(meta->size_expressions[k], shape[k]);
  }

  std::string first_input() const {
    for (const ProgramInput& in : program_.inputs)
      if (user_tensor(in)) return fmt::format("its first input is `{}`", in.name);
    return "";
  }

  void solve(const std::string& expression, i64 size) {
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
    if (!one || !two || *one == *two || (size - *one) % (*two - *one) != 0) return;
    symbols_[unknown] = 1 + (size - *one) / (*two - *one);
  }

  void fix_batch(const std::string& input, const TensorMeta& meta) {
    if (!is_open(meta, 0)) return;
    const std::vector<std::string> names = symbols_in(meta.size_expressions[0]);
    if (names.size() != 1 || symbols_.contains(names[0]) || size_of(meta.size_expressions[0], {{names[0], 1}}) != 1) return;
    for (const DynamicSize& d : program_.dynamic)
      if (d.symbol == names[0] && !takes(d, 1)) return;
    symbols_[names[0]] = 1;
    diagnostics_.add({Severity::note, name_,
                      fmt::format("input `{}` leaves the size of its first axis, `{}`, open: it is 1", input, names[0]), "", "",
                      "pt2.input.batch", "another one: --input-shape NAME=8,3,96,96"});
  }

  static bool takes(const DynamicSize& d, i64 size) {
    return size >= 1 && (!d.low || *d.low <= kSpecialized || size >= *d.low) && (!d.high || size <= *d.high);
  }
  void check_range(const DynamicSize& d) {
    const auto it = symbols_.find(d.symbol);
    if (it != symbols_.end() && !takes(d, it->second))
      error(name_, fmt::format("`{}` has another size than the export allows", d.symbol), std::to_string(it->second), d.range,
            "pt2.input.given");
  }

  void differs(const std::string& input, const TensorMeta& meta, const Shape& shape) {
    std::string limit;
    for (size_t k = 0; k < meta.sizes.size(); ++k)
      limit += fmt::format("{}{}", k ? "," : "", is_open(meta, k) ? "?" : std::to_string(meta.sizes[k]));
    error(where(input), "has another shape than --input-shape says", to_text(shape), limit, "pt2.input.given");
  }
  void check_given(const std::string& input, const Shape& shape) {
    const TensorMeta& meta = *input_of(input);
    for (size_t k = 0; k < shape.size(); ++k)
      if ((is_open(meta, k) ? size_of(meta.size_expressions[k], symbols_) : std::optional(meta.sizes[k])) != shape[k])
        return differs(input, meta, shape);
  }

  void fix(const std::string& name, TensorMeta& meta) {
    if (!meta.dynamic) return;
    bool fixed = true;
    const auto take = [&](const std::string& expression, i64& number) {
      if (expression.empty()) return;
      const auto value = size_of(expression, symbols_);
      if (value) number = *value;
      fixed = fixed && value && *value >= 0;
      const std::vector<std::string> names = symbols_in(expression);
      const bool all_known = std::all_of(names.begin(), names.end(), [&](const std::string& s) { return symbols_.contains(s); });
      if (all_known && (!value || *value < 0)) program_.dynamic.push_back({expression, name, 0, "", {}, {}});
    };
    for (size_t k = 0; k < meta.size_expressions.size(); ++k) take(meta.size_expressions[k], meta.sizes[k]);
    for (size_t k = 0; k < meta.stride_expressions.size(); ++k)
      take(meta.stride_expressions[k], k < meta.strides.size() ? meta.strides[k] : meta.offset);
    if (!fixed) return;
    meta.dynamic = false;
    i64 elements = 1;
    for (const i64 extent : meta.sizes) {
      if (extent > kMaxElements || elements * extent > kMaxElements)
        return error(name_, fmt::format("`{}` has more than {} elements", name, kMaxElements), "", "", "pt2.tensor.size");
      elements *= extent;
    }
  }

  std::optional<i64> computed(const std::string& name) const {
    const auto it = program_.sizes.find(name);
    return it == program_.sizes.end() ? std::nullopt : size_of(it->second, symbols_);
  }

  void fix(Argument& a) {
    if (a.kind != Argument::Kind::symbol && a.kind != Argument::Kind::symbols) return;
    const bool is_list = a.kind == Argument::Kind::symbols;
    a.integers.resize(a.names.size());
    a.kind = Argument::Kind::other;
    for (size_t k = 0; k < a.names.size(); ++k) {
      if (a.names[k].empty()) continue;
      const auto value = computed(a.names[k]);
      if (!value) return;
      a.integers[k] = *value;
    }
    a.kind = is_list ? Argument::Kind::integers : Argument::Kind::integer;
    a.integer = a.integers[0];
    a.names.clear();
  }

  // What computes and tests sizes that are known now.
  void drop_size_nodes() {
    std::erase_if(program_.nodes, [&](const ProgramNode& n) {
      const bool known = std::all_of(n.sizes.begin(), n.sizes.end(), [&](const std::string& size) { return computed(size).has_value(); });
      return n.outputs.empty() && known && (!n.sizes.empty() || n.is_test);
    });
  }

  Program& program_;
  const InputShapes& given_;
  const std::string& name_;
  Diagnostics& diagnostics_;
  Symbols symbols_;
  bool ok_ = true;
};

}  // namespace

bool fix_sizes(Program& program, const InputShapes& given, const std::string& name, Diagnostics& diagnostics) {
  return Fixing(program, given, name, diagnostics).run();
}

}  // namespace deuteron::pt2

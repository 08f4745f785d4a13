// deuteron ops: every operator, how it is quantized and which kernel it becomes on a target; and the kernels of the runtime.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>

#include "ops/all.h"
#include "targets/target.h"
#include "tools/options.h"

namespace deuteron {
namespace {

struct OpsOptions {
  std::string target, json;
  bool csv = false;
};

struct Row {
  std::string name, kernel, builtin, operands, result, constraints;
};

// Attributes with which an operator can be tried where its defaults say nothing.
template <class T>
T example_of() {
  return T{};
}
template <>
Permute example_of() {
  return {{0, 3, 1, 2}};
}
template <>
Pad example_of() {
  return {{0, 1, 1, 0}, {0, 1, 1, 0}, 0};
}
template <>
Reshape example_of() {
  return {{6, 24}};
}
template <>
Reduce example_of() {
  return {Reduce::kMean, {1}};
}
template <>
Softmax example_of() {
  return {1};
}
// The edges of the int8 part have no rule of their own in the list.
template <class T>
std::vector<QuantSpec> specs_of(const Op& op) {
  const QuantSpec real{DType::f32, Gran::none}, steps{DType::s8, Gran::per_tensor};
  if constexpr (std::is_same_v<T, Quantize>) return {real, steps};
  if constexpr (std::is_same_v<T, Dequantize>) return {steps, real};
  const std::span<const QuantSpec> specs = quant_specs(op);
  return {specs.begin(), specs.end()};
}
// Shapes of all operands, for an operator that the list below cannot be tried on; empty: the list is tried.
template <class T>
std::vector<Shape> example_shapes() {
  return {};
}
template <>
std::vector<Shape> example_shapes<Lstm>() {
  return {{2, 1, 4}, {12, 4}, {12, 3}, {12}, {12}};
}
template <>
std::vector<Shape> example_shapes<Gru>() {
  return {{2, 1, 4}, {9, 4}, {9, 3}, {9}, {9}};
}
template <>
std::vector<Shape> example_shapes<Rnn>() {
  return {{2, 1, 4}, {3, 4}, {3, 3}, {3}, {3}};
}
const std::vector<Shape> kExampleShapes = {{1, 6, 6, 4}, {4, 3, 3, 4}, {2, 16}, {4, 16}, {4}};

std::string text_of(const QuantSpec& s) {
  const std::string type(name_of(s.dtype));
  switch (s.gran) {
    case Gran::none:
      return "float";
    case Gran::per_tensor:
      return type + (s.symmetric ? " per tensor, symmetric" : " per tensor");
    case Gran::per_channel:
      return fmt::format("{} per channel (axis {}){}", type, s.axis, s.symmetric ? ", symmetric" : "");
    case Gran::derived:
      return type + ", scale of x times scale of weight";
    case Gran::shared:
      return type + ", as the first operand";
    case Gran::fixed:
      return fmt::format("{}, scale {}, zero point {}", type, s.fixed_scale, s.fixed_zero);
  }
  return "";
}

Quant example_quant(const QuantSpec& s, const Shape& shape) {
  if (s.gran == Gran::none) return {};
  if (s.gran == Gran::fixed) return per_tensor(s.fixed_scale, s.fixed_zero);
  if (s.gran != Gran::per_channel) return per_tensor(s.gran == Gran::derived ? 0x1p-12f : 0x1p-6f, 0);
  const size_t n = static_cast<size_t>(shape[s.axis]);
  return {std::vector<float>(n, 0x1p-6f), std::vector<i32>(n, 0), s.axis};
}

// The kernel of an int8 operator on example operands of these shapes; empty where it has none.
std::string kernel_for(const Op& op, std::span<const QuantSpec> specs, const std::vector<Shape>& shapes, Isa isa) {
  std::vector<Type> in;
  for (const Shape& s : shapes) in.push_back({DType::f32, s, {}});
  if (specs.back().gran == Gran::none)
    in[0] = {specs[0].dtype, shapes[0], example_quant(specs[0], shapes[0])};  // int8 comes in, float goes out
  std::vector<const Type*> views;
  for (const Type& t : in) views.push_back(&t);
  const Result<std::vector<Type>> inferred = infer(op, TypeView(views));
  if (!inferred) return "";
  std::vector<Constant> constants(in.size());
  std::vector<const Constant*> data(in.size(), nullptr);
  for (size_t i = 0; i < in.size(); ++i) {
    if (specs[i].gran == Gran::none) {
      constants[i] = constant_of(std::vector<float>(static_cast<size_t>(in[i].elements())));
      if (specs.back().gran != Gran::none && i > 0) data[i] = &constants[i];
      continue;
    }
    if (specs[i].gran == Gran::per_channel && specs[i].axis >= in[i].rank()) return "";
    in[i].dtype = specs[i].dtype;
    in[i].quant = example_quant(specs[i], in[i].shape);
    if (!specs[i].symmetric) continue;
    constants[i] = constant_of(std::vector<i64>(static_cast<size_t>(in[i].bytes() / 8 + 1)));
    constants[i].bytes = constants[i].bytes.first(static_cast<size_t>(in[i].bytes()));
    data[i] = &constants[i];
  }
  std::vector<Type> out = *inferred;
  std::vector<const Type*> outs;
  const QuantSpec& result = specs.back();
  for (Type& t : out) {
    t.dtype = result.dtype;
    t.quant = result.gran == Gran::shared ? in[0].quant : example_quant(result, t.shape);
    outs.push_back(&t);
  }
  const Result<Lowered> lowered = lower_to_cortex_m(op, {TypeView(views), TypeView(outs), data, isa});
  return lowered ? lowered->call.name : "";
}

// Tries the example shapes for every operand until the operator takes them.
std::string find_kernel(const Op& op, std::span<const QuantSpec> specs, std::vector<Shape>& shapes, Isa isa) {
  if (shapes.size() + 1 == specs.size()) return kernel_for(op, specs, shapes, isa);
  for (const Shape& s : kExampleShapes) {
    shapes.push_back(s);
    std::string kernel = find_kernel(op, specs, shapes, isa);
    shapes.pop_back();
    if (!kernel.empty()) return kernel;
  }
  return "";
}

// What the NPU takes of an operator: a builtin of Neutron IR, and within which limits.
void add_npu(Row& row, const Op& op, const Target& target) {
  if (!target.npu) return;
  row.builtin = npu_builtin(op);
  for (const NpuConstraint& c : npu_constraints(op, target.npu->limits))
    row.constraints += fmt::format("{}{} [{}]", row.constraints.empty() ? "" : "; ", c.text, c.rule);
}

void describe_quantization(Row& row, std::span<const QuantSpec> specs) {
  row.operands.clear();
  for (size_t i = 0; i + 1 < specs.size(); ++i) row.operands += (i ? "; " : "") + text_of(specs[i]);
  if (!specs.empty()) row.result = text_of(specs.back());
}

template <class T>
void add_rows(std::vector<Row>& rows, const Target& target) {
  const Isa isa = target.isa;
  if constexpr (!std::is_same_v<T, KernelCall> && !std::is_same_v<T, Delegate>) {
    const Op op = example_of<T>();
    const std::vector<QuantSpec> specs = specs_of<T>(op);
    Row row{std::string(name_of(op)), "", "", "", "", ""};
    std::vector<Shape> shapes = example_shapes<T>();
    if (!shapes.empty()) row.kernel = kernel_for(op, specs, shapes, isa);
    else if (!specs.empty()) row.kernel = find_kernel(op, specs, shapes, isa);
    if (row.kernel.empty() &&
        shapes
            .empty()) {  // a kernel for one scale only: the operator with a scale for each channel becomes another one before it is lowered
      std::vector<QuantSpec> plain = specs;
      for (QuantSpec& s : plain)
        if (s.gran == Gran::per_channel) s.gran = Gran::per_tensor;
      if (!plain.empty()) row.kernel = find_kernel(op, plain, shapes, isa);
    }
    add_npu(row, op, target);
    describe_quantization(row, row.builtin.empty() ? std::span<const QuantSpec>(specs) : npu_quant_specs(op));
    // Without the backend of the CPU only the edges run there.
    const bool edge = std::is_same_v<T, Quantize> || std::is_same_v<T, Dequantize>;
    if (!edge && !target.has_backend("cortex_m")) row.kernel.clear();
    rows.push_back(std::move(row));
    if constexpr (std::is_same_v<T, Reduce>) {
      static constexpr std::pair<const char*, const char*> kFunctions[] = {
          {"mean", "MEAN"}, {"sum", "SUM"}, {"amax", "REDUCE_MAX"}, {"amin", "REDUCE_MIN"}};
      const Row any = std::move(rows.back());
      rows.pop_back();
      for (i64 fn = Reduce::kMean; fn <= Reduce::kMin; ++fn) {
        Row one = any;
        one.name = fmt::format("{} {}", any.name, kFunctions[fn].first);
        if (fn == Reduce::kMax || fn == Reduce::kMin) one.kernel.clear();  // a pool by then
        if (!one.builtin.empty()) one.builtin = kFunctions[fn].second;
        describe_quantization(one, npu_quant_specs(Reduce{fn, {1}}));
        rows.push_back(std::move(one));
      }
    }
    if constexpr (std::is_same_v<T, Unary>) {
      for (int fn = 0; fn <= static_cast<int>(UnaryFn::sign); ++fn) {
        Row one = rows.back();
        one.name = fmt::format("{} {}", name_of(op), name_of(static_cast<UnaryFn>(fn)));
        std::vector<Shape> none;
        const Op unary = Unary{static_cast<UnaryFn>(fn), 1};
        if (target.has_backend("cortex_m")) one.kernel = find_kernel(unary, quant_specs(unary), none, isa);
        const Type any{DType::f32, {1}, {}};
        const std::vector<const Type*> types{&any};
        const std::vector<const Constant*> data(1);
        if (target.npu && !npu_checks(unary, {TypeView(types), TypeView(types), data, target.npu->limits}).back().passed)
          one.builtin.clear();
        if (!one.builtin.empty()) describe_quantization(one, npu_quant_specs(unary));
        rows.insert(rows.end() - 1, std::move(one));
      }
      rows.pop_back();
    }
  }
}

template <class... T>
std::vector<Row> all_rows(std::variant<T...>*, const Target& target) {
  std::vector<Row> rows;
  (add_rows<T>(rows, target), ...);
  return rows;
}

std::string quoted(const std::string& s) { return s.find_first_of(",\"") == std::string::npos ? s : '"' + s + '"'; }

int ops(const OpsOptions& o) {
  Diagnostics diagnostics;
  const std::optional<Target> target = find_target(o.target.empty() ? "cortex-m55" : o.target, diagnostics);
  if (!target) return finish(o.json, diagnostics, {}, "");
  const std::vector<Row> rows = all_rows(static_cast<Op*>(nullptr), *target);
  std::string text = o.csv ? "operator,target,dtype,kernel,builtin,operands,result,constraints\n"
                           : fmt::format("{:<22} {:<34} {:<24}{}\n", "operator", "kernel on " + target->name,
                                         target->npu ? "Neutron IR" : "", "quantization: operands -> result");
  Json list = Json::array(), kernels = Json::array();
  for (const Row& r : rows) {
    if (o.csv)
      text += fmt::format("{},{},{},{},{},{},{},{}\n", quoted(r.name), target->name, r.result.empty() ? "float" : "int8", quoted(r.kernel),
                          quoted(r.builtin), quoted(r.operands), quoted(r.result), quoted(r.constraints));
    else
      text += fmt::format("{:<22} {:<34} {:<24}{}\n", r.name, r.kernel.empty() ? "-" : r.kernel,
                          !target->npu        ? ""
                          : r.builtin.empty() ? "-"
                                              : r.builtin,
                          r.operands.empty() ? "-" : r.operands + " -> " + r.result);
    list.push_back({{"name", r.name},
                    {"target", target->name},
                    {"kernel", r.kernel},
                    {"builtin", r.builtin},
                    {"operands", r.operands},
                    {"result", r.result},
                    {"constraints", r.constraints}});
  }
  for (int32_t k = 0; k < kAllKernels.count; ++k) kernels.push_back(kAllKernels.kernels[k]->name);
  if (!o.csv) {
    text += fmt::format("{}; `-`: folded into its neighbours, a view, or no int8 kernel\nkernels of the runtime:\n",
                        counted(static_cast<long long>(rows.size()), "operator"));
    for (const auto& k : kernels) text += "  " + k.get<std::string>() + "\n";
  }
  return finish(o.json, diagnostics, {{"target", target->name}, {"operators", list}, {"kernels", kernels}}, text);
}

}  // namespace

void add_ops(CommandLine& line) {
  OpsOptions* o = nullptr;
  Verb verb = add_verb<OpsOptions>(line, "ops", "list the operators and what a target does with them",
                                        "deuteron ops --target cortex-m33 --csv", ops, o);
  verb.option("--target", o->target, "default: cortex-m55").value("T");
  verb.flag("--csv", o->csv, "as comma-separated values");
  add_json(verb, o->json);
}

}  // namespace deuteron

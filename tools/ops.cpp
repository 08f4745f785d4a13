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
  std::string name, kernel, operands, result;
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
  if (!inferred || inferred->size() != 1) return "";
  std::vector<Constant> constants(in.size());
  std::vector<const Constant*> data(in.size(), nullptr);
  for (size_t i = 0; i < in.size(); ++i) {
    if (specs[i].gran == Gran::none) continue;
    if (specs[i].gran == Gran::per_channel && specs[i].axis >= in[i].rank()) return "";
    in[i].dtype = specs[i].dtype;
    in[i].quant = example_quant(specs[i], in[i].shape);
    if (!specs[i].symmetric) continue;
    constants[i] = constant_of(std::vector<i64>(static_cast<size_t>(in[i].bytes() / 8 + 1)));
    constants[i].bytes = constants[i].bytes.first(static_cast<size_t>(in[i].bytes()));
    data[i] = &constants[i];
  }
  Type out = inferred->front();
  const QuantSpec& result = specs.back();
  out.dtype = result.dtype;
  out.quant = result.gran == Gran::shared ? in[0].quant : example_quant(result, out.shape);
  const Type* outs[] = {&out};
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

template <class T>
void add_rows(std::vector<Row>& rows, Isa isa) {
  if constexpr (!std::is_same_v<T, KernelCall>) {
    const Op op = example_of<T>();
    const std::vector<QuantSpec> specs = specs_of<T>(op);
    Row row{std::string(name_of(op)), "", "", ""};
    std::vector<Shape> shapes;
    if (!specs.empty()) row.kernel = find_kernel(op, specs, shapes, isa);
    if (row.kernel
            .empty()) {  // a kernel for one scale only: the operator with a scale for each channel becomes another one before it is lowered
      std::vector<QuantSpec> plain = specs;
      for (QuantSpec& s : plain)
        if (s.gran == Gran::per_channel) s.gran = Gran::per_tensor;
      if (!plain.empty()) row.kernel = find_kernel(op, plain, shapes, isa);
    }
    for (size_t i = 0; i + 1 < specs.size(); ++i) row.operands += (i ? "; " : "") + text_of(specs[i]);
    if (!specs.empty()) row.result = text_of(specs.back());
    rows.push_back(std::move(row));
    if constexpr (std::is_same_v<T, Unary>) {
      for (int fn = 0; fn <= static_cast<int>(UnaryFn::sign); ++fn) {
        Row one = rows.back();
        one.name = fmt::format("{} {}", name_of(op), name_of(static_cast<UnaryFn>(fn)));
        std::vector<Shape> none;
        const Op unary = Unary{static_cast<UnaryFn>(fn), 1};
        one.kernel = find_kernel(unary, quant_specs(unary), none, isa);
        rows.insert(rows.end() - 1, std::move(one));
      }
      rows.pop_back();
    }
  }
}

template <class... T>
std::vector<Row> all_rows(std::variant<T...>*, Isa isa) {
  std::vector<Row> rows;
  (add_rows<T>(rows, isa), ...);
  return rows;
}

std::string quoted(const std::string& s) { return s.find_first_of(",\"") == std::string::npos ? s : '"' + s + '"'; }

int ops(const OpsOptions& o) {
  Diagnostics diagnostics;
  const std::optional<Target> target = find_target(o.target.empty() ? "cortex-m55" : o.target, diagnostics);
  if (!target) return finish(o.json, diagnostics, {}, "");
  const std::vector<Row> rows = all_rows(static_cast<Op*>(nullptr), target->isa);
  std::string text = o.csv ? "operator,target,kernel,operands,result\n"
                           : fmt::format("{:<22} {:<34} {}\n", "operator", "kernel on " + target->name, "quantization: operands -> result");
  Json list = Json::array(), kernels = Json::array();
  for (const Row& r : rows) {
    if (o.csv)
      text += fmt::format("{},{},{},{},{}\n", quoted(r.name), target->name, quoted(r.kernel), quoted(r.operands), quoted(r.result));
    else
      text += fmt::format("{:<22} {:<34} {}\n", r.name, r.kernel.empty() ? "-" : r.kernel,
                          r.operands.empty() ? "-" : r.operands + " -> " + r.result);
    list.push_back({{"name", r.name}, {"target", target->name}, {"kernel", r.kernel}, {"operands", r.operands}, {"result", r.result}});
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

void add_ops(CLI::App& app, Action& chosen) {
  OpsOptions* o = nullptr;
  CLI::App* verb = add_verb<OpsOptions>(app, chosen, "ops", "list the operators and what a target does with them",
                                        "deuteron ops --target cortex-m33 --csv", ops, o);
  verb->add_option("--target", o->target, "default: cortex-m55")->option_text("T");
  verb->add_flag("--csv", o->csv, "as comma-separated values");
  add_json(verb, o->json);
}

}  // namespace deuteron

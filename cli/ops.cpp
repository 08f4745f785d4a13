// SPDX-License-Identifier: Apache-2.0
// deuteron ops: every operator, how it is quantized and which kernel it becomes on a target; and
// the kernels of the runtime.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "cli/operator_fates.h"
#include "cli/options.h"
#include "cli/output_paths.h"
#include "compile/lower/pack_call.h"
#include "ops/families.h"
#include "ops/kernel_call/called_kernels.h"
#include "targets/target.h"

namespace deuteron {
namespace {

struct OpsOptions {
  std::string target, json;
  bool csv = false;
};

// A call, and the kernels that it comes to on the target's core. Empty: there is none.
struct ExampleCall {
  std::string call, kernels;
};
// Of an example.
struct ExampleKernel {
  ExampleCall plain, packed;  // packed: with packed weights
};

struct Row {
  std::string name;
  ExampleKernel kernel = {};
  std::string builtin = {}, operands = {}, result = {}, constraints = {};
};

// The edges of the int8 part have no rule of their own in the list.
std::vector<QuantSpec> specs_of(const Op& op) {
  const QuantSpec real{DType::f32, Gran::none}, steps{DType::s8, Gran::per_tensor};
  if (is_quantize(op)) return {real, steps};
  if (is_dequantize(op)) return {steps, real};
  const std::span<const QuantSpec> specs = quant_specs(op);
  return {specs.begin(), specs.end()};
}

std::string text_of(const QuantSpec& s) {
  const std::string type(name_of(s.dtype));
  switch (s.gran) {
    case Gran::none:
      return "float";
    case Gran::per_tensor:
      return type + (s.symmetric ? " per tensor, symmetric" : " per tensor");
    case Gran::per_channel:
      return fmt::format("{} per channel (axis {}){}", type, s.axis,
                         s.symmetric ? ", symmetric" : "");
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
  if (s.gran != Gran::per_channel)
    return per_tensor(s.gran == Gran::derived ? 0x1p-12f : 0x1p-6f, 0);
  const size_t n = static_cast<size_t>(shape[s.axis]);
  return {std::vector<float>(n, 0x1p-6f), std::vector<i32>(n, 0), s.axis};
}

// Operands of a lowered call, and what it makes.
struct CallTypes {
  std::vector<const Type*> in, out;
  std::vector<const Constant*> data;  // by operand; null: no constant

  // With those that the call has of its own.
  CallTypes with_constants(const Lowered& l) const {
    CallTypes all = *this;
    for (const NewConstant& c : l.constants) all.in.push_back(&c.type), all.data.push_back(&c.data);
    return all;
  }
};

std::string kernels_of(const Lowered& l, const CallTypes& types, Isa isa) {
  CallTypes all = types.with_constants(l);
  for (const Type& t : l.scratch) all.out.push_back(&t);
  std::vector<void*> data;
  for (const Constant* c : all.data)
    data.push_back(c ? const_cast<std::byte*>(c->bytes.data()) : nullptr);
  return text_of(
      called_kernels(l.call, TypeView(all.in), TypeView(all.out), data, isa, usual_features(isa)));
}

ExampleKernel example_kernel(const Lowered& plain, const CallTypes& types, Isa isa) {
  ExampleKernel e{{plain.call.name, kernels_of(plain, types, isa)}, {}};
  const CallTypes own = types.with_constants(plain);
  LinearForms additions;
  if (const Result<Lowered> packed = pack_call(plain.call, {isa, own.data.size()}, additions))
    e.packed = {packed->call.name + "." + packed->call.overload, kernels_of(*packed, own, isa)};
  return e;
}

// The kernels of an int8 operator on example operands of these shapes.
ExampleKernel kernel_for(const Op& op, std::span<const QuantSpec> specs,
                         const std::vector<Shape>& shapes, Isa isa) {
  std::vector<Type> in;
  for (const Shape& s : shapes) in.push_back({DType::f32, s, {}});
  if (specs.back().gran == Gran::none)
    in[0] = {specs[0].dtype, shapes[0],
             example_quant(specs[0], shapes[0])};  // int8 comes in, float goes out
  std::vector<const Type*> views;
  for (const Type& t : in) views.push_back(&t);
  const Result<std::vector<Type>> inferred = infer(op, TypeView(views));
  if (!inferred) return {};
  std::vector<Constant> constants(in.size());
  std::vector<const Constant*> data(in.size(), nullptr);
  for (size_t i = 0; i < in.size(); ++i) {
    if (specs[i].gran == Gran::none) {
      constants[i] = constant_of(std::vector<float>(static_cast<size_t>(in[i].elements())));
      if (specs.back().gran != Gran::none && i > 0) data[i] = &constants[i];
      continue;
    }
    if (specs[i].gran == Gran::per_channel && specs[i].axis >= in[i].rank()) return {};
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
  const Result<Lowered> lowered =
      lower_to_cortex_m(op, {TypeView(views), TypeView(outs), data, isa});
  if (!lowered) return {};
  return example_kernel(*lowered, {views, outs, data}, isa);
}

// The kernel of an example. Where there is none with a scale for each channel, the operator with
// such a scale becomes another one before it is lowered: then that with one scale counts.
ExampleKernel kernel_of(const AnyExample& example, std::vector<QuantSpec> specs, Isa isa) {
  if (specs.empty()) return {};
  const size_t operands = std::min(example.operands.size(), specs.size() - 1);
  const std::vector<Shape> shapes(example.operands.begin(),
                                  example.operands.begin() + static_cast<std::ptrdiff_t>(operands));
  ExampleKernel kernel = kernel_for(example.op, specs, shapes, isa);
  if (!kernel.plain.call.empty()) return kernel;
  for (QuantSpec& s : specs)
    if (s.gran == Gran::per_channel) s.gran = Gran::per_tensor;
  return kernel_for(example.op, specs, shapes, isa);
}

// What the NPU takes of an operator: a builtin of Neutron IR, and within which limits.
void add_npu(Row& row, const Op& op, const Target& target) {
  if (!target.npu) return;
  row.builtin = npu_builtin(op);
  for (const NpuConstraint& c : npu_constraints(op, target.npu->limits))
    row.constraints +=
        fmt::format("{}{} [{}]", row.constraints.empty() ? "" : "; ", c.text, c.rule);
}

void describe_quantization(Row& row, std::span<const QuantSpec> specs) {
  row.operands.clear();
  for (size_t i = 0; i + 1 < specs.size(); ++i) row.operands += (i ? "; " : "") + text_of(specs[i]);
  if (!specs.empty()) row.result = text_of(specs.back());
}

Row row_of(const AnyExample& example, const std::string& name, const Target& target) {
  const Op& op = example.op;
  const std::vector<QuantSpec> specs = specs_of(op);
  Row row{name};
  // Without the backend of the CPU only the edges run there.
  if (is_quantize_or_dequantize(op) || target.has_backend("cortex_m"))
    row.kernel = kernel_of(example, specs, target.isa);
  add_npu(row, op, target);
  describe_quantization(
      row, row.builtin.empty() ? std::span<const QuantSpec>(specs) : npu_quant_specs(op));
  return row;
}

// One for each operator, and for each function of an operator that has several: of the first
// example.
std::vector<Row> all_rows(const Target& target) {
  std::vector<Row> rows;
  for (const AnyExample& example : all_examples()) {
    const std::string_view function = function_of(example.op);
    const std::string name =
        fmt::format("{}{}{}", name_of(example.op), function.empty() ? "" : " ", function);
    const bool known =
        std::any_of(rows.begin(), rows.end(), [&](const Row& r) { return r.name == name; });
    if (!known) rows.push_back(row_of(example, name, target));
  }
  return rows;
}

std::string name_of(const OperatorFate& f) {
  return f.form.empty() ? f.target : f.target + " " + f.form;
}

std::string csv_cell(const std::string& s) {
  return s.find_first_of(",\"") == std::string::npos ? s : '"' + s + '"';
}

// The same columns, of the operators of torch: what each becomes.
std::string csv_of(const OperatorFate& f, const std::string& target) {
  std::string cpu, npu;
  for (const std::string& kernel : f.kernels) {
    std::string& list = kernel.starts_with("neutron::") ? npu : cpu;
    list += (list.empty() ? "" : " + ") + kernel;
  }
  return fmt::format("{},{},{},{},{},{},{},{},,,\n", name_of(f), target,
                     f.is_refused ? "refused" : fmt::format("{}", fmt::join(f.types, " + ")),
                     csv_cell(cpu), csv_cell(npu), csv_cell(f.call), "", csv_cell(f.why));
}

std::string text_of(const OperatorFate& f, bool has_npu) {
  const std::string name = name_of(f);
  if (f.is_refused) return fmt::format("{:<46} refused: {}\n", name, f.why);
  if (f.kernels.empty()) return fmt::format("{:<46} no kernel: {}\n", name, f.why);
  const std::string why = has_npu && !f.is_on_npu ? ": " + f.why : "";
  return fmt::format("{:<46} {} in {}{}\n", name, fmt::join(f.kernels, " + "),
                     fmt::join(f.types, " and "), why);
}

Json json_of(const OperatorFate& f) {
  return {{"name", name_of(f)},    {"example", f.call},
          {"kernels", f.kernels},  {"computes_in", f.types},
          {"on_npu", f.is_on_npu}, {"refused", f.is_refused},
          {"why", f.why}};
}

std::string csv_of(const Row& r, const std::string& target) {
  const ExampleCall &plain = r.kernel.plain, &packed = r.kernel.packed;
  return fmt::format("{},{},{},{},{},{},{},{},{},{},{}\n", csv_cell(r.name), target,
                     r.result.empty() ? "float" : "int8", csv_cell(plain.call), csv_cell(r.builtin),
                     csv_cell(r.operands), csv_cell(r.result), csv_cell(r.constraints),
                     csv_cell(plain.kernels), csv_cell(packed.call), csv_cell(packed.kernels));
}

std::string text_of(const Row& r, bool has_npu) {
  return fmt::format("{:<22} {:<34} {:<24}{}\n", r.name,
                     r.kernel.plain.call.empty() ? "-" : r.kernel.plain.call,
                     !has_npu            ? ""
                     : r.builtin.empty() ? "-"
                                         : r.builtin,
                     r.operands.empty() ? "-" : r.operands + " -> " + r.result);
}

Json json_of(const Row& r, const std::string& target) {
  return {{"name", r.name},
          {"target", target},
          {"kernel", r.kernel.plain.call},
          {"runs", r.kernel.plain.kernels},
          {"packed_kernel", r.kernel.packed.call},
          {"packed_runs", r.kernel.packed.kernels},
          {"builtin", r.builtin},
          {"operands", r.operands},
          {"result", r.result},
          {"constraints", r.constraints}};
}

std::string text_of_all(const std::vector<Row>& rows, const std::vector<OperatorFate>& fates,
                        const Target& target) {
  const bool has_npu = target.npu.has_value();
  std::string text = fmt::format("{:<22} {:<34} {:<24}{}\n", "operator", "kernel on " + target.name,
                                 has_npu ? "Neutron IR, SDK " + target.npu->sdk : "",
                                 "quantization: operands -> result");
  for (const Row& r : rows) text += text_of(r, has_npu);
  text += fmt::format("{}; `-`: folded into its neighbours, a view, or no int8 kernel\n",
                      counted(static_cast<long long>(rows.size()), "operator"));
  text += fmt::format("{:<22} what its example comes to on {}\n", "operator", target.name);
  for (const Row& r : rows) {
    const ExampleCall &plain = r.kernel.plain, &packed = r.kernel.packed;
    if (!plain.kernels.empty()) text += fmt::format("{:<22} {}\n", r.name, plain.kernels);
    if (!packed.call.empty())
      text += fmt::format("{:<22} with packed weights {}: {}\n",
                          plain.kernels.empty() ? r.name : "", packed.call, packed.kernels);
  }
  text += fmt::format("{:<46} what an example of it alone becomes on {}\n", "operator of torch",
                      target.name);
  for (const OperatorFate& f : fates) text += text_of(f, has_npu);
  text += counted(static_cast<long long>(fates.size()), "operator") +
          " of torch\nkernels of the runtime:\n";
  for (int32_t k = 0; k < kAllKernels.count; ++k)
    text += fmt::format("  {}\n", kAllKernels.kernels[k]->name);
  return text;
}

int ops(const OpsOptions& o) {
  Diagnostics diagnostics;
  if (o.target.ends_with(".toml")) {
    const std::array inputs{NamedPath{"--target", o.target}}, outputs{NamedPath{"--json", o.json}};
    if (!check_outputs(inputs, outputs, diagnostics)) return finish("", diagnostics, {}, "");
  }
  const std::optional<Target> target =
      find_target(o.target.empty() ? "cortex-m55" : o.target, diagnostics);
  if (!target) return finish(o.json, diagnostics, {}, "");
  const std::vector<Row> rows = all_rows(*target);
  const std::vector<OperatorFate> fates = operator_fates(*target);
  std::string text = o.csv ? "operator,target,dtype,kernel,builtin,operands,result,constraints,"
                             "runs,packed_kernel,packed_runs\n"
                           : text_of_all(rows, fates, *target);
  Json list = Json::array(), of_torch = Json::array(), kernels = Json::array();
  for (const Row& r : rows) {
    if (o.csv) text += csv_of(r, target->name);
    list.push_back(json_of(r, target->name));
  }
  for (const OperatorFate& f : fates) {
    if (o.csv) text += csv_of(f, target->name);
    of_torch.push_back(json_of(f));
  }
  for (int32_t k = 0; k < kAllKernels.count; ++k) kernels.push_back(kAllKernels.kernels[k]->name);
  return finish(o.json, diagnostics,
                {{"target", target->name},
                 {"sdk", target->npu ? Json(target->npu->sdk) : Json(nullptr)},
                 {"operators", list},
                 {"torch", of_torch},
                 {"kernels", kernels}},
                text);
}

}  // namespace

void add_ops(CommandLine& line) {
  OpsOptions* o = nullptr;
  Verb verb =
      add_verb<OpsOptions>(line, "ops", "list the operators, and how a target runs each of them",
                           "deuteron ops --target cortex-m33 --csv", ops, o);
  verb.option("--target", o->target, "the target; default: cortex-m55").value("T");
  verb.flag("--csv", o->csv, "print comma-separated values");
  add_json(verb, o->json);
}

}  // namespace deuteron

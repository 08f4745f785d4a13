// SPDX-License-Identifier: Apache-2.0
// Every operator becomes a call of a device kernel. What has no kernel is reported, all of it in
// one run.
#include <fmt/format.h>

#include <algorithm>

#include "compile/compilation.h"
#include "compile/lower/call_node.h"
#include "compile/lower/float_calls.h"
#include "compile/lower/shift_in.h"
#include "compile/lower/state_writes.h"
#include "compile/options.h"
#include "compile/pass.h"
#include "compile/plan/homes.h"
#include "compile/quantize/recurrent.h"
#include "ops/families.h"
#include "ops/kernel_call/host_call.h"
#include "ops/kernel_call/number_calls.h"
#include "runtime/kernel.h"
#include "targets/target.h"

namespace deuteron {

static Diagnostic no_kernel(const PassContext& pass, const Node& node, const Refusal& why) {
  Diagnostic d;
  d.where = fmt::format("{}: {}", pass.graph.name, describe(pass.graph, node));
  d.what = fmt::format("has no kernel on {}: {}", pass.target.name, why.what);
  d.measured = why.measured;
  d.limit = why.limit;
  d.rule = why.rule;
  return d;
}

// A view, or a Concat whose operands are written straight into it: no call.
static bool needs_no_call(const Graph& g, const Node& node, Homes& homes) {
  std::vector<const Type*> in;
  const bool lies_in_operand = view_of(node.op, g.types(node.inputs, in)).has_value();
  const bool renames = facts_of(node.op).values == Values::same;
  const bool view = lies_in_operand && (renames || !g.is_constant(homes.of(node.inputs[0]).root));
  if (view) homes.enter(g, node);
  return view || call_of(node.op) != nullptr ||
         (facts_of(node.op).storage == Storage::around_operands && homes.move_in(g, node));
}

Rounding rounding_of(const Graph& g, const Node& node, const Target& target) {
  if (g.numerics != Numerics::tflite) return target.npu ? Rounding::tflite : Rounding::once;
  // The last of a node's operators makes its result; the others made or share its operands.
  const bool once =
      !node.origin.empty() && g.sources[node.origin.back()].target == "FULLY_CONNECTED";
  return once ? Rounding::reference_once : Rounding::reference;
}

static bool has_own_numbers(const PassContext& pass) {
  const bool is_partitioned = !pass.result.partition.nodes.empty();
  const bool is_kept_off =
      !pass.options.npu.exclude.empty() || pass.options.npu.min_macs > pass.target.options.min_macs;
  return is_partitioned && !is_kept_off && !pass.result.quantization.model_was_quantized;
}

// Beside an NPU our own numbers are rounded as the NPU does, so that they do not depend on the
// side. A float model has none yet: where no part of it is on the NPU once it is partitioned, they
// are rounded once, and so are sums along axes, of which TFLite's rounding makes too large ones
// (compile/place/mean_bias.h). What an option keeps off the NPU keeps its numbers.
static bool rounds_once_beside_npu(const PassContext& pass) {
  const bool has_delegate = std::ranges::any_of(pass.graph.nodes, [](const Node& node) {
    const KernelCall* call = call_of(node.op);
    return call && call->delegate;
  });
  return has_own_numbers(pass) && !has_delegate;
}

// Of a call that the importer made: its first operand may be written over where the kernel says so.
static void settle_place(const Graph& g, Node& node, bool for_stock) {
  KernelCall& call = *call_of(node.op);
  const Kernel* kernel = for_stock || !call.in_place.empty() ? nullptr : kernel_of(call);
  if (!kernel || !kernel->in_place) return;
  const Face *x = face_of_operand(call, 0), *y = face_of_result(call);
  const bool fits =
      x && y && *x == *y && g.type(node.outputs[0]).bytes() <= g.type(node.inputs[0]).bytes();
  if (fits) call.in_place = {{0, 0}};
}

void lower(PassContext& pass) {
  Graph& g = pass.graph;
  const bool rounds_once = rounds_once_beside_npu(pass);
  const bool for_stock = pass.target.options.is_for_stock();
  Homes homes;
  homes.resize(g.values.size());
  for (Node& node : g.nodes)
    if (const KernelCall* call = call_of(node.op); call && !call->delegate)
      settle_place(g, node, for_stock);
  if (!for_stock) shift_into_states(g);
  for (Node& node : g.nodes) {
    if (needs_no_call(g, node, homes)) continue;
    std::vector<const Type*> in_types, out_types;
    std::vector<const Constant*> data;
    const TypeView in = g.types(node.inputs, in_types), out = g.types(node.outputs, out_types);
    for (const ValueId v : node.inputs)
      data.push_back(g.values[v].constant ? &*g.values[v].constant : nullptr);
    Rounding rounding = rounding_of(g, node, pass.target);
    const bool is_sum = facts_of(node.op).family == Family::slices && has_own_numbers(pass);
    if ((rounds_once || is_sum) && rounding == Rounding::tflite) rounding = Rounding::once;
    const i64 count = macs(node.op, in, out);
    Result<Lowered> lowered = lower_to_cortex_m(
        node.op, {in, out, data, pass.target.isa, rounding, pass.target.cmsis_nn, for_stock});
    // Numbers without steps: float32, and the integers and masks that portable kernels move.
    const DType dtype = out[0].dtype;
    const bool is_plain =
        (dtype == DType::f32 || dtype == DType::s64 || dtype == DType::s32 || dtype == DType::b8) &&
        !is_dequantize(node.op);
    if (!lowered && is_plain && state_results(node.op) == 0)
      lowered = float_call(node.op, {in, out, data, pass.target.isa});
    if (!lowered) {
      pass.diagnostics.add(no_kernel(pass, node, lowered.why));
      continue;
    }
    node = call_node(g, node, std::move(*lowered.value));
    homes.resize(g.values.size());
    call_of(node.op)->macs = count;
  }
  write_states(g, for_stock);
  remove_dead(g, "folded into constants");
}

}  // namespace deuteron

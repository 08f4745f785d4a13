// SPDX-License-Identifier: Apache-2.0
#include "compile/cost/cpu_cost.h"

#include <algorithm>

#include "compile/cost/loop_work.h"
#include "ir/states.h"
#include "kernels/copy/shift_in/kernel.h"
#include "kernels/matmul/tile_mve.h"
#include "kernels/softmax/kernel.h"
#include "ops/families.h"
#include "ops/kernel_call/number_calls.h"
#include "ops/kernel_call/numbers.h"
#include "targets/target.h"

namespace deuteron {

constexpr std::string_view kPackedConv = "deuteron::packed_conv2d";
constexpr i64 kFewWindows = 4;  // fully connected layers, and what is like them
constexpr i64 kFewRows = 5;     // of a product of activations

static bool is_scratch(const Type& type) { return type.dtype == DType::u8; }

// The list of integers with so many before it; empty: there is none.
static std::vector<i64> integers_of(const KernelCall& call, int before = 0) {
  for (const KernelArg& arg : call.args)
    if (arg.kind == KernelArg::Kind::integers && !arg.integers.empty() && before-- == 0)
      return arg.integers;
  return {};
}

// The stride of a depthwise call whose windows are taps side by side of one row, or of an image of
// one column, which have loops of their own (kernels/depthwise_conv2d/three_by_three.h, of which
// this holds for most). 0: another one.
static i64 stride_along_a_row(const Graph& g, const Node& node, const KernelCall& call) {
  const Shape &x = g.type(node.inputs[0]).shape, &w = g.type(node.inputs[1]).shape,
              &y = g.type(node.outputs[0]).shape;
  const std::vector<i64> stride = integers_of(call), dilation = integers_of(call, 2);
  if (x.size() != 4 || x[3] != y[3] || stride.size() != 2 || dilation.size() != 2) return 0;
  const size_t along = w[1] == 1 ? 1 : 0;
  if (along == 0 && (w[2] != 1 || x[2] != 1 || y[2] != 1)) return 0;
  const bool fits = w[1 + along] <= 16 && dilation[along] == 1 && y[1 + along] >= 4;
  return fits && stride[along] <= 2 ? stride[along] : 0;
}

// Elements of the windows. A convolution gathers a window for all of its output channels at once; a
// pool walks it for each channel. Packed for MVE, windows of several taps in a row are met where
// they lie.
static i64 taps_of(const KernelCall& call, i64 macs, i64 results, const Shape& y) {
  const auto has = [&](const char* part) { return call.name.find(part) != std::string::npos; };
  const std::vector<i64> window = integers_of(call);
  if (call.overload == "mve_4x16" && window.size() == 2 && window[0] == 1 && window[1] > 1) {
    const std::vector<i64> dilation = integers_of(call, 3);
    const bool apart = dilation.size() == 2 && dilation[1] > 1;  // each pixel is copied once
    return apart && !y.empty() && y.back() > 0 ? macs / y.back() / window[1] : 0;
  }
  if (has("conv") && !has("depthwise")) return y.empty() || y.back() == 0 ? 0 : macs / y.back();
  if (!has("pool2d") || window.empty()) return 0;
  i64 elements = results;
  for (const i64 extent : window) elements *= extent;
  return elements;
}

// Of each window: a pool and a packed convolution have its extents, others those of the weights.
static i64 lines_of(const Graph& g, const Node& node) {
  const KernelCall& call = std::get<KernelCall>(node.op);
  if (call.name == "aten::cat") return static_cast<i64>(node.inputs.size());
  const std::vector<i64> window = integers_of(call);
  const bool has_own = call.name.find("pool2d") != std::string::npos ||
                       call.name.find("packed_conv") != std::string::npos;
  if (has_own && window.size() == 2) return window[0];
  for (const ValueId v : node.inputs)
    if (g.is_constant(v) && g.type(v).shape.size() == 4) return g.type(v).shape[1];
  return 1;
}

// What a state takes row by row, at the ends of its rows (kernels/copy/shift_in/kernel.cpp).
static i64 pieces_of_shift(const Type& x, const Type& fresh) {
  i64 rows = 1;
  for (size_t k = 0; k < x.shape.size() && x.shape[k] == fresh.shape[k]; ++k) rows *= x.shape[k];
  return rows > 0 && fresh.bytes() / rows > kShiftInColumns ? rows : fresh.bytes();
}

// What a call writes that leaves the other elements of its first operand as they are; those it only
// copies, which takes an eighth, and not that in a state's place.
static std::optional<i64> placed_by(const Graph& g, const Node& node, const KernelCall& call) {
  const std::optional<NumberCall> moved = number_call(&call);
  if (!moved || !works_along_axis(call) || moved->operands.size() != 2) return std::nullopt;
  return g.type(node.inputs[moved->operands[1]]).elements() +
         (call.writes_state ? 0 : g.type(node.outputs[0]).elements() / 8);
}

CpuWork cpu_work(const Graph& g, const Node& node) {
  const KernelCall& call = std::get<KernelCall>(node.op);
  CpuWork w;
  w.macs = call.macs;
  for (const ValueId v : node.outputs)
    if (!is_scratch(g.type(v))) w.results += g.type(v).elements();
  for (const ValueId v : node.inputs) {
    if (g.is_constant(v)) w.constants += g.type(v).bytes();
    else w.operands += g.type(v).elements();
  }
  const Shape& y = g.type(node.outputs[0]).shape;
  w.taps = taps_of(call, w.macs, w.results, y);
  w.windows = y.empty() || y.back() == 0 ? 0 : w.results / y.back();
  w.lines = w.windows * lines_of(g, node);
  if (const std::optional<i64> placed = placed_by(g, node, call)) w.results = *placed;
  if (call.name == kStateShift)
    w.windows = pieces_of_shift(g.type(node.inputs[0]), g.type(node.inputs[1]));
  return w;
}

// How many windows of a packed convolution meet its filters together, with the scratch that it has;
// 0: not known.
static i32 windows_together(const Graph& g, const Node& node, const KernelCall& call) {
  const auto* packed = numbers_of<PackedDense>(&call);
  const Type& last = g.type(node.outputs.back());
  return packed && is_scratch(last) ? windows_together(*packed, last.bytes()) : 0;
}

// Of a packed convolution of x, as far as it does not depend on its scratch.
static std::string variety_of_packed(const Shape& x, const CpuWork& w) {
  if (w.windows <= kFewWindows) return "/rows";
  return x.empty() || x.back() % 4 == 0 ? "" : "/odd";
}

static std::string variety_of_product(const MatmulArgs& a) {
  if (a.rows <= kFewRows) return "/rows";
  if (!meets_mve_tiles(a)) return "";
  return a.inner > kMveShort ? "/long" : "/short";
}

// Loops of its own that a kernel has for such a call, behind its name; "": none.
static std::string variety_of(const Graph& g, const Node& node, const CpuWork& w) {
  const KernelCall& call = std::get<KernelCall>(node.op);
  if (call.name == "cortex_m::quantized_depthwise_conv2d")
    if (const i64 stride = stride_along_a_row(g, node, call)) return stride == 1 ? "/row" : "/row2";
  if (const auto* product = numbers_of<MatmulArgs>(&call)) return variety_of_product(*product);
  if (call.name == "cortex_m::quantized_mul") {  // kernels/mul/kernel_mve.cpp
    const i64 period =
        std::min(g.type(node.inputs[0]).elements(), g.type(node.inputs[1]).elements());
    return period < w.results && period % 8 == 0 ? "/channels" : "";
  }
  if (call.name == "cortex_m::softmax")
    return w.windows > 0 && w.windows * ((w.results / w.windows + 3) / 4) <= kSoftmaxFewVectors
               ? "/few"
               : "";
  if (call.name.find("depthwise") != std::string::npos) {  // of a filter for each channel
    const Shape &x = g.type(node.inputs[0]).shape, &y = g.type(node.outputs[0]).shape;
    if (x.back() != y.back()) return "";
    if (w.macs == 9 * w.results && w.lines == 3 * w.windows) return "/3x3";
    const Shape& window = g.type(node.inputs[1]).shape;
    const std::vector<i64> stride = integers_of(call);
    const bool has_rows = window.size() == 4 && window[1] > 1 && window[2] > 1;
    if (!has_rows || stride.empty()) return "";
    const bool five = window[1] <= 5 && (window[2] == 4 || window[2] == 5) && y[2] >= 4;
    return std::string(stride[0] == 1 ? "/windows" : "/windows2") + (five ? "/five" : "");
  }
  if (!call.name.starts_with(kPackedConv)) return "";
  const i32 together = w.windows <= kFewWindows ? 0 : windows_together(g, node, call);
  if (together == 1 || together == 4) return together == 1 ? "/one" : "/four";
  return variety_of_packed(g.type(node.inputs[0]).shape, w);
}

std::vector<std::string> cost_lines(const Graph& g, const Node& node, const CpuWork& work) {
  std::string name = std::get<KernelCall>(node.op).name;
  if (name == kStateWrite) name = "deuteron::copy";  // the same loop
  const auto is_float = [&](ValueId v) { return g.type(v).dtype == DType::f32; };
  const bool floats = std::any_of(node.inputs.begin(), node.inputs.end(), is_float) ||
                      std::any_of(node.outputs.begin(), node.outputs.end(), is_float);
  if (floats && name.starts_with("aten::")) return {name + ".f32", name, "*.f32", "*"};
  std::vector<std::string> lines{name + variety_of(g, node, work)};
  while (lines.back() != name) lines.push_back(lines.back().substr(0, lines.back().rfind('/')));
  lines.push_back("*");
  return lines;
}

// The first of `lines` that there is; null: none.
template <class Line>
static const Line* find_line(const std::vector<Line>& all, const std::vector<std::string>& lines) {
  for (const std::string& line : lines) {
    const auto at = std::ranges::find(all, line, &Line::kernel);
    if (at != all.end()) return &*at;
  }
  return nullptr;
}

std::optional<i64> cpu_instructions(const std::vector<std::string>& lines, const CpuWork& work,
                                    const Target& target) {
  const CpuKernelCost* cost = find_line(target.cpu_cost, lines);
  return cost ? std::optional(cost->instructions(work)) : std::nullopt;
}

std::optional<i64> cpu_cycles(const std::vector<std::string>& lines, const CpuWork& work,
                              const Target& target) {
  const std::optional<i64> instructions = cpu_instructions(lines, work, target);
  const CpuKernelCycles* cycles = find_line(target.cpu_cycles, lines);
  return instructions && cycles ? std::optional(cycles->cycles(*instructions)) : instructions;
}

std::optional<i64> cpu_cycles(const Graph& g, const Node& node, const Target& target) {
  const auto* call = call_of(node.op);
  if (!call || call->delegate) return std::nullopt;
  if (const auto loops = loop_work(g, node, target.isa))
    if (find_line(target.cpu_cost, {loops->kernel}))
      return cpu_cycles({loops->kernel}, loops->work, target);
  const CpuWork work = cpu_work(g, node);
  return cpu_cycles(cost_lines(g, node, work), work, target);
}

const char* kind_of_cpu_cycles(const Target& target) {
  if (!target.measured.empty()) return "measured on this chip";
  return target.cpu_cycles.empty() ? "instructions at one a cycle" : "estimated";
}

}  // namespace deuteron

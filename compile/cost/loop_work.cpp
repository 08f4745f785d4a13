// SPDX-License-Identifier: Apache-2.0
#include "compile/cost/loop_work.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "compile/cost/loops.h"

namespace deuteron {
namespace {

// mac: elements of blocks of neighbours, of rows 4 or 16 at a time; tap: those behind; window:
// blocks; line: parts of them that fit int16 with MVE; result: slices, or results.
LoopWork sum_work(const SumArgs& a, Isa isa) {
  constexpr i64 kLanes = 8, kRowsAtOnce = 255;  // kernels/reduce/
  const i64 outer = a.outer, slice = a.slice, inner = a.inner, results = outer * inner;
  const bool is_mve = isa == Isa::mve;
  CpuWork w;
  w.results = inner == 1 ? results : outer;
  if (is_mve ? a.shift > 0 : inner != 1 && inner < 4) {  // in portable C
    w.operands = results * slice, w.results = results;
    return LoopWork{"narrow", w};
  }
  if (inner == 1) {
    const i64 block = is_mve ? kVector : 4, rest = slice % block;
    w.macs = results * (slice / block), w.taps = results * (is_mve ? rest > 0 : rest);
    return LoopWork{"last", w};
  }
  const i64 whole = is_mve ? inner / kLanes : parts(inner, 4),
            ragged = is_mve && inner % kLanes > 0;
  w.windows = outer * (whole + ragged);
  w.macs = outer * whole * slice, w.taps = outer * ragged * slice;
  if (is_mve) w.lines = w.windows * parts(slice, kRowsAtOnce);
  return LoopWork{"rows", w};
}

// Few elements have an exponential each, many those of 256 distances. Differences are held to be
// alike likely. mac: steps of exponentials with a factor for each bit, where time depends on data;
// tap: of many, exponentials that are not 0, with MVE vectors; result, operand: results by turns of
// a loop and those behind, or vectors; window: rows.
std::optional<LoopWork> softmax_work(const Graph& g, const Node& node, Isa isa) {
  constexpr i64 kDistances = 256, kManyElements = 256, kFewVectors = 48;  // kernels/softmax/
  const Type& x = g.type(node.inputs[0]);
  const Shape& y = g.type(node.outputs[0]).shape;
  if (y.empty() || y.back() == 0 || x.quant.scale.empty()) return std::nullopt;
  const i64 elements = g.type(node.outputs[0]).elements(), rows = elements / y.back();
  CpuWork w;
  w.windows = rows;
  if (isa == Isa::mve) {
    w.results = rows * parts(y.back(), 4);
    const bool is_few = w.results <= kFewVectors;
    w.taps = is_few ? w.results : 0;
    return LoopWork{is_few ? "few" : "many", w};
  }
  const double scale = static_cast<double>(x.quant.scale[0]);
  int exponent = 0;
  std::frexp(scale, &exponent);
  const double nearest = std::ldexp(31, -exponent);  // ops/softmax/multiplier.h: in Q5.26
  i64 steps = 0, computed = 0;
  for (i64 distance = 1; distance < kDistances; distance++) {
    if (static_cast<double>(distance) > nearest) break;
    const auto quarters = static_cast<uint64_t>(4 * scale * static_cast<double>(distance));
    steps += std::bit_width(quarters) + std::popcount(quarters);
    computed++;
  }
  const bool is_few = elements < kManyElements;
  const i64 exponentials = y.back() == 1 ? 0 : is_few ? elements - rows : kDistances;
  const i64 turn = isa == Isa::dsp ? 8 : 4;
  w.results = rows * (y.back() / turn), w.operands = rows * (y.back() % turn);
  w.macs = exponentials * steps / kDistances;
  w.taps = is_few ? 0 : exponentials * computed / kDistances;
  return LoopWork{is_few ? "few" : "many", w};
}

// mac, tap: blocks of elements, and those behind them; line, window: whether there are such, where
// MVE has a last block that is not whole. MVE has four floats in a vector.
LoopWork flat_work(const Graph& g, const Node& node, Isa isa) {
  const std::string& name = call_of(node.op)->name;
  const bool is_wide =
      g.type(node.inputs[0]).dtype == DType::s16 || g.type(node.outputs[0]).dtype == DType::s16;
  const bool by_sixteen = isa == Isa::mve && name != "cortex_m::dequantize_per_tensor";
  const i64 elements = g.type(node.outputs[0]).elements(), block = by_sixteen ? kVector : 4;
  CpuWork w;
  w.macs = elements / block;
  w.taps = elements % block;
  w.lines = w.taps > 0, w.windows = w.macs > 0;
  // what quantize has behind its blocks goes one by one
  if (isa == Isa::mve && name != "cortex_m::quantize_per_tensor") w.taps = 0;
  return {is_wide ? "flat_s16" : "flat", w};
}

// What mul_s8_dsp() leaves to the loop of cores without the extension.
bool multiplies_by_words(const Node& node, i64 period) {
  const auto* a = numbers_of<MulArgs>(call_of(node.op));
  return a && (a->shift >= 0 || a->multiplier < 0 || period % 4 != 0);
}

// Of two tensors, of which one may be repeated. mac, tap: blocks of elements, and
// those behind them; line: how often it is; window: columns; constant: bytes of one that is a
// constant.
LoopWork pair_work(const Graph& g, const Node& node, Isa isa) {
  const i64 elements = g.type(node.outputs[0]).elements(),
            period = std::max<i64>(
                1, std::min(g.type(node.inputs[0]).elements(), g.type(node.inputs[1]).elements()));
  CpuWork w;
  w.lines = elements / period;
  if (isa == Isa::mve && call_of(node.op)->name == "cortex_m::quantized_mul" && w.lines > 1 &&
      period % 8 == 0) {  // eight columns of all rows at a time
    w.windows = period / 8, w.macs = w.lines * w.windows;
    return {"columns", w};
  }
  const bool by_eight = isa == Isa::mve && call_of(node.op)->name != "cortex_m::quantized_add";
  const i64 block = by_eight ? 8 : 4, rest = period % block;
  w.macs = w.lines * (period / block);
  w.taps = w.lines * (isa == Isa::mve ? rest > 0 : rest);
  for (const ValueId v : node.inputs)
    if (g.is_constant(v)) w.constants += g.type(v).bytes();
  return {isa == Isa::dsp && multiplies_by_words(node, period) ? "words" : "pairs", w};
}

// The smaller or larger of two elements, by rows in which neither operand changes its step. mac,
// tap: blocks of elements, and those behind them; window: rows.
LoopWork extremum_work(const Graph& g, const Node& node, Isa isa) {
  const Shape& y = g.type(node.outputs[0]).shape;
  const auto moves = [&](size_t k, size_t axis) {
    const Shape& x = g.type(node.inputs[k]).shape;
    const size_t absent = y.size() - x.size();
    return axis >= absent && x[axis - absent] != 1;
  };
  i64 row = 1, step = -1;  // the operands that move along the row, as bits
  for (size_t axis = y.size(); axis-- > 0;) {
    if (y[axis] == 1) continue;
    const i64 here = moves(0, axis) + 2 * moves(1, axis);
    if (step >= 0 && here != step) break;
    row *= y[axis], step = here;
  }
  CpuWork w;
  w.windows = g.type(node.outputs[0]).elements() / std::max<i64>(row, 1);
  const bool is_wide = g.type(node.outputs[0]).dtype == DType::s16;
  const i64 block = (isa == Isa::mve ? kVector : 4) / (is_wide ? 2 : 1);
  w.macs = w.windows * (isa == Isa::mve ? parts(row, block) : row / block);
  w.taps = isa == Isa::mve ? 0 : w.windows * (row % block);
  return {"rows", w};
}

// result: channels of pixels, with MVE vectors of 4; window: pixels; line: rows.
LoopWork resize_work(const Graph& g, const Node& node, Isa isa) {
  const Type& y = g.type(node.outputs[0]);
  const i64 channels = std::max<i64>(1, y.shape.empty() ? 1 : y.shape.back());
  CpuWork w;
  w.windows = y.elements() / channels;
  w.results = w.windows * (isa == Isa::mve ? parts(channels, 4) : channels);
  w.lines = y.rank() == 4 ? y.shape[0] * y.shape[1] : 1;
  return {"pixels", w};
}

// window: lines; result: elements.
std::optional<LoopWork> running_sum_work(const Graph& g, const Node& node) {
  const auto& args = call_of(node.op)->args;
  const auto axis = std::ranges::find(args, KernelArg::Kind::integer, &KernelArg::kind);
  const Shape& x = g.type(node.inputs[0]).shape;
  if (axis == args.end() || x.empty()) return std::nullopt;
  CpuWork w;
  w.results = g.type(node.outputs[0]).elements();
  w.windows = w.results / std::max<i64>(x[static_cast<size_t>(axis->integer)], 1);
  return LoopWork{"lines", w};
}

// mac: multiply-adds of rows of weights filled up to blocks; result: states of a unit; window:
// steps.
std::optional<LoopWork> recurrent_work(const Graph& g, const Node& node, Isa isa) {
  const auto& call = *call_of(node.op);
  const Type& x = g.type(node.inputs[0]);
  const Type* state = nullptr;  // [directions,n,units]
  for (const ValueId v : node.outputs)
    if (g.type(v).dtype != DType::u8) state = &g.type(v);
  if (!state || state->rank() != 3 || x.rank() != 3 || x.shape[2] == 0) return std::nullopt;
  const i64 inputs = x.shape[2], units = state->shape[2],
            block = isa == Isa::mve   ? kVector
                    : isa == Isa::dsp ? 4
                                      : 1;
  CpuWork w;
  w.windows = x.elements() / inputs * state->shape[0];
  w.results = w.windows * units;
  if (w.results == 0) return std::nullopt;
  w.lines = call.macs / std::max<i64>(inputs + units, 1);  // gates
  w.macs = w.lines * (up(inputs, block) + up(units, block)) / block;
  return LoopWork{"steps", w};
}

// A layer whose weights are computed is made of nothing but what its call shows.
DenseNumbers dense_of(const Graph& g, const Node& node) {
  if (const auto* known = numbers_of<DenseNumbers>(call_of(node.op))) return *known;
  const Shape& weight = g.type(node.inputs[1]).shape;
  DenseNumbers n;
  if (weight.size() != 2) return n;
  n.a.n = n.a.out_h = n.a.in_h = n.a.kernel_h = n.a.kernel_w = 1;
  n.a.in_w = n.a.out_w =
      static_cast<i32>(g.type(node.inputs[0]).elements() / std::max<i64>(weight[1], 1));
  n.a.stride_h = n.a.stride_w = n.a.dilation_h = n.a.dilation_w = 1;
  n.a.in_c = n.filter_c = static_cast<i32>(weight[1]), n.a.out_c = static_cast<i32>(weight[0]);
  return n;
}

// Without the name of the kernel.
std::optional<LoopWork> work_of(const Graph& g, const Node& node, Isa isa) {
  const auto& call = *call_of(node.op);
  const auto is = [&](std::initializer_list<std::string_view> names) {
    return std::find(names.begin(), names.end(), call.name) != names.end();
  };
  if (const auto* packed = numbers_of<PackedDense>(&call)) return packed_work(g, node, *packed);
  if (const auto* product = numbers_of<MatmulArgs>(&call)) return product_work(*product, isa);
  if (is({"cortex_m::quantized_depthwise_conv2d"})) return depthwise_work(g, node, isa);
  if (is({"cortex_m::quantized_conv2d", "cortex_m::quantized_linear"}))
    return plain_work(g, node, dense_of(g, node), isa);
  if (is({"cortex_m::quantized_transpose_conv2d"})) return transposed_work(g, node);
  if (is({"deuteron::packed_conv_transpose2d"})) return packed_transposed_work(g, node);
  if (is({"cortex_m::quantized_avg_pool2d", "cortex_m::quantized_max_pool2d"}))
    return pool_work(g, node, isa);
  if (is({"cortex_m::quantize_per_tensor", "cortex_m::dequantize_per_tensor",
          "cortex_m::quantized_activation"}))
    return flat_work(g, node, isa);
  if (is({"cortex_m::quantized_mul", "cortex_m::quantized_add", "deuteron::linear_add"}))
    return pair_work(g, node, isa);
  if (is({"cortex_m::maximum", "cortex_m::minimum", "deuteron::maximum_s16",
          "deuteron::minimum_s16"}))
    return extremum_work(g, node, isa);
  if (is({"deuteron::cumsum", "aten::cumsum"})) return running_sum_work(g, node);
  if (is({"aten::index_select", "aten::embedding"})) return picked_work(g, node, isa);
  if (is({"cortex_m::softmax"})) return softmax_work(g, node, isa);
  if (is({"deuteron::resize2d"})) return resize_work(g, node, isa);
  if (is({"cortex_m::transpose"})) return permute_work(node, isa);
  if (is({"cortex_m::pad"})) return pad_work(node, isa);
  if (is({"aten::cat", "aten::slice_copy"})) return copies_work(g, node, isa);
  if (const auto* sum = numbers_of<SumArgs>(&call)) return sum_work(*sum, isa);
  if (is({"deuteron::gru", "deuteron::lstm", "deuteron::rnn", "deuteron::gru_s16",
          "deuteron::lstm_s16"}))
    return recurrent_work(g, node, isa);
  return portable_work(g, node);
}

// Whose loops they are: with an addition a convolution is the sum of its parts.
std::string kernel_of_loops(const Op& op, const std::string& loops) {
  const auto& call = *call_of(op);
  const bool is_shared = loops == "pairs" || loops == "binary";
  if (is_shared && call.name.starts_with("aten::")) return "aten";
  const auto* packed = numbers_of<PackedDense>(&call);
  if (packed && packed->addition) return "deuteron::packed_conv2d";
  if (call.name == "aten::embedding") return "aten::index_select";
  return call.name == "cortex_m::minimum" ? "cortex_m::maximum" : call.name;
}

}  // namespace

std::optional<LoopWork> loop_work(const Graph& g, const Node& node, Isa isa) {
  std::optional<LoopWork> found = work_of(g, node, isa);
  if (!found) return std::nullopt;
  found->kernel = kernel_of_loops(node.op, found->kernel) + "@" + found->kernel;
  return found;
}

}  // namespace deuteron

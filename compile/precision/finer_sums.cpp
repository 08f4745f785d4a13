// SPDX-License-Identifier: Apache-2.0
#include "compile/precision/finer_sums.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <span>

#include "ops/families.h"

namespace deuteron {
namespace {

constexpr i32 kMostBits = 7;

// For each channel of the weights (one: for all), how many times they can be doubled.
std::vector<i32> doublings(const Quant& quant, std::span<const int8_t> weights) {
  const size_t channels = quant.scale.size(), each = weights.size() / channels;
  std::vector<i32> bits(channels);
  for (size_t c = 0; c < channels; ++c) {
    i32 most = 0;
    for (const int8_t w : weights.subspan(c * each, each)) most = std::max(most, std::abs(i32{w}));
    while (most > 0 && bits[c] < kMostBits &&
           most << (bits[c] + 1) <= std::numeric_limits<int8_t>::max())
      ++bits[c];
  }
  return bits;
}
void limit(std::vector<i32>& bits, std::span<const i32> bias) {
  constexpr i64 kMost = std::numeric_limits<i32>::max() / 2;  // sums of products come on top
  for (size_t o = 0; o < bias.size(); ++o) {
    i32& of_channel = bits[o % bits.size()];
    while (of_channel > 0 && std::abs(i64{bias[o]}) << of_channel > kMost) --of_channel;
  }
}

template <class T>
void multiply(GraphValue& value, const std::vector<i32>& bits) {
  const std::span<const T> data = value.constant->as<T>();
  const size_t each =
      data.size() / (value.type.quant.per_channel() || bits.size() > 1 ? bits.size() : 1);
  std::vector<T> finer;
  for (size_t i = 0; i < data.size(); ++i)
    finer.push_back(static_cast<T>(data[i] * (1 << bits[i / each % bits.size()])));
  value.constant = constant_of(std::move(finer));
  std::vector<float>& scale = value.type.quant.scale;
  for (size_t c = 0; c < scale.size(); ++c) scale[c] = std::ldexp(scale[c], -bits[c % bits.size()]);
}

bool is_int8_layer(const Graph& g, const Node& node) {
  if (!is_layer(node.op) || node.inputs.size() < 2 || node.outputs.size() != 1) return false;
  const Type &x = g.type(node.inputs[0]), &w = g.type(node.inputs[1]), &y = g.type(node.outputs[0]);
  const bool is_int8 = x.dtype == DType::s8 && w.dtype == DType::s8 && y.dtype == DType::s8 &&
                       g.is_constant(node.inputs[1]);
  if (!is_int8 || w.quant.empty() ||
      std::ranges::any_of(w.quant.zero_point, [](i32 z) { return z != 0; }))
    return false;
  if (w.quant.per_channel() && w.quant.axis != 0) return false;
  constexpr i64 kMostProducts = 65536;  // 128 * 127 of each lie within half of int32
  if (w.elements() / w.shape[0] > kMostProducts) return false;
  if (node.inputs.size() == 2) return true;
  const Type& bias = g.type(node.inputs[2]);
  return g.is_constant(node.inputs[2]) && bias.dtype == DType::s32 && bias.elements() == w.shape[0];
}

}  // namespace

int make_sums_finer(Graph& g) {
  const Uses uses(g);
  int changed = 0;
  for (const Node& node : g.nodes) {
    if (!is_int8_layer(g, node)) continue;
    const ValueId w = node.inputs[1], b = node.inputs.size() > 2 ? node.inputs[2] : -1;
    if (!uses.has_single_reader(w) || (b >= 0 && !uses.has_single_reader(b))) continue;
    std::vector<i32> bits = doublings(g.type(w).quant, g.values[w].constant->as<int8_t>());
    if (b >= 0) limit(bits, g.values[b].constant->as<i32>());
    if (std::ranges::all_of(bits, [](i32 k) { return k == 0; })) continue;
    multiply<int8_t>(g.values[w], bits);
    Quant& quant = g.values[w].type.quant;
    quant.low = std::numeric_limits<int8_t>::min() + 1,
    quant.high = std::numeric_limits<int8_t>::max();
    if (b >= 0) multiply<i32>(g.values[b], bits);
    ++changed;
  }
  return changed;
}

}  // namespace deuteron

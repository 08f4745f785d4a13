// SPDX-License-Identifier: Apache-2.0
#include "compile/quantize/bounded_outputs.h"

#include <algorithm>

#include "compile/calibrate/shared_out.h"
#include "ops/all.h"
#include "ops/families.h"

namespace deuteron {

namespace {

// The numbers that an output of integers, as an argmax, is made of; -1: none.
ValueId numbers_behind(const Graph& g, const Uses& uses, ValueId v) {
  for (NodeId n = uses.producer[v]; n >= 0; n = uses.producer[g.nodes[n].inputs[0]]) {
    const auto is_number = [&](ValueId x) {
      return !g.is_constant(x) && g.type(x).dtype == DType::f32;
    };
    const std::vector<ValueId>& operands = g.nodes[n].inputs;
    if (const auto at = std::ranges::find_if(operands, is_number); at != operands.end()) return *at;
    if (operands.empty() || g.is_constant(operands[0])) break;
  }
  return -1;
}

bool only_hands_on(const Op& op) {
  return is_quantize_or_dequantize(op) || facts_of(op).values == Values::same;
}

}  // namespace

std::vector<BoundedOutput> bounded_outputs(const Graph& g) {
  const Uses uses(g);
  std::vector<BoundedOutput> found;
  const auto is_integer = [&](const Port& port) { return g.type(port.value).dtype != DType::f32; };
  const bool has_integers_alone = std::ranges::all_of(g.user_outputs(), is_integer);
  for (const Port& port : g.user_outputs()) {
    if (is_integer(port)) {
      if (!has_integers_alone) continue;
      if (const ValueId read = numbers_behind(g, uses, port.value); read >= 0)
        found.push_back({read, g.type(read).shape, -1});
      continue;
    }
    NodeId n = uses.producer[port.value];
    while (n >= 0 && only_hands_on(g.nodes[n].op)) n = uses.producer[g.nodes[n].inputs[0]];
    if (n < 0 || !has_fixed_steps(g.nodes[n].op)) continue;
    const ValueId read = g.nodes[n].inputs[0];
    found.push_back({read, g.type(read).shape, shared_axis(g.nodes[n].op)});
  }
  return found;
}

void see_lowest(BoundedOutput& output, std::span<const float> x) {
  if (output.softmax_axis < 0) return;
  output.low = std::min(output.low, lowest_seen(x, rows_along(output.shape, output.softmax_axis)));
}

void forget_what_is_not_seen(const BoundedOutput& output, std::vector<float>& x) {
  if (output.softmax_axis < 0) return;
  const auto [count, inner] = rows_along(output.shape, output.softmax_axis);
  const i64 step = count * inner, size = static_cast<i64>(x.size());
  for (i64 begin = 0; begin < size; begin += step)
    for (i64 k = begin; k < begin + inner; ++k) {
      double sum = 0;
      for (i64 at = k; at < begin + step; at += inner) sum += x[at] = std::max(x[at], output.low);
      for (i64 at = k; at < begin + step; at += inner)
        x[at] -= static_cast<float>(sum / static_cast<double>(count));
    }
}

}  // namespace deuteron

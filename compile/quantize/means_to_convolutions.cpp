// SPDX-License-Identifier: Apache-2.0
#include "compile/quantize/means_to_convolutions.h"

#include <algorithm>

namespace deuteron {

namespace {

bool is_mean_of_image(const Graph& g, const Node& node) {
  const AvgPool2d* const pool = std::get_if<AvgPool2d>(&node.op);
  if (!pool) return false;
  const Shape& x = g.type(node.inputs[0]).shape;
  const i64 taps = x[1] * x[2];
  return pool->kernel.h == x[1] && pool->kernel.w == x[2] && pool->pad.h == 0 && pool->pad.w == 0 &&
         taps > 1 && (pool->divisor == 0 || pool->divisor == taps);
}

// A depthwise convolution whose every weight is the same.
Node mean_over(Graph& g, ValueId x, HW kernel, ValueId y, const Origin& origin) {
  const i64 channels = g.type(x).shape.back(), taps = kernel.h * kernel.w;
  std::vector<float> weights(static_cast<size_t>(channels * taps), 1.0f / static_cast<float>(taps));
  const ValueId weight = g.add_value(g.values[y].name + "_weight",
                                     Type{DType::f32, {channels, kernel.h, kernel.w, 1}, {}},
                                     constant_of(std::move(weights)));
  Conv2d conv;
  conv.groups = channels;
  return {conv, {x, weight}, {y}, origin};
}

}  // namespace

int means_to_convolutions(Graph& g, const std::function<bool(const Graph&, const Node&)>& allowed) {
  std::vector<Node> nodes;
  int found = 0;
  for (Node& node : g.nodes) {
    if (!is_mean_of_image(g, node) || !allowed(g, node)) {
      nodes.push_back(std::move(node));
      continue;
    }
    ++found;
    ValueId x = node.inputs[0];
    const Shape shape = g.type(x).shape;
    if (shape[1] > 1 && shape[2] > 1) {
      const ValueId rows = g.add_value(g.values[node.outputs[0]].name + "_rows",
                                       Type{DType::f32, {shape[0], shape[1], 1, shape[3]}, {}});
      nodes.push_back(mean_over(g, x, {1, shape[2]}, rows, node.origin));
      x = rows;
    }
    const HW rest = shape[1] > 1 ? HW{shape[1], 1} : HW{1, shape[2]};
    nodes.push_back(mean_over(g, x, rest, node.outputs[0], node.origin));
  }
  g.nodes = std::move(nodes);
  return found;
}

}  // namespace deuteron

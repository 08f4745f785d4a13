// SPDX-License-Identifier: Apache-2.0
#include "compile/place/mean_bias.h"

#include <cmath>
#include <limits>
#include <span>

#include "ops/families.h"
#include "ops/reduce/rounding.h"

namespace deuteron {
namespace {

bool is_never_negative(const Type& x) { return x.quant.zero_point[0] == x.quant.low; }
bool keeps_order(const Node& node) {
  return node.inputs.size() == 1 && is_movement(node.op) &&
         facts_of(node.op).values == Values::same;
}

class Corrector {
 public:
  explicit Corrector(Graph& g) : g_(g), uses_(g) {}

  int run() {
    for (const Node& node : g_.nodes)
      if (const double excess = excess_of_sum(g_, node);
          excess > 0 && is_never_negative(g_.type(node.inputs[0])))
        correct_behind(node.outputs[0], excess);
    return changed_;
  }

 private:
  void correct_behind(ValueId v, double excess) {
    for (const NodeId n : uses_.readers[v]) {
      const Node& node = g_.nodes[n];
      if (keeps_order(node)) correct_behind(node.outputs[0], excess);
      else if (is_layer(node.op) && node.inputs[0] == v) correct(node, excess);
    }
  }
  void correct(const Node& layer, double excess) {
    if (layer.inputs.size() < 3 || !g_.is_constant(layer.inputs[1]) ||
        !g_.is_constant(layer.inputs[2]))
      return;
    const ValueId b = layer.inputs[2];
    const Type &x = g_.type(layer.inputs[0]), &w = g_.type(layer.inputs[1]),
               &y = g_.type(layer.outputs[0]);
    const Shape &in = x.shape, &kernel = w.shape;
    const bool sees_no_padding =
        kernel.size() == 2 ||
        (in.size() == 4 && in[1] == 1 && in[2] == 1 && kernel[1] == 1 && kernel[2] == 1);
    if (w.dtype != DType::s8 || y.dtype != DType::s8 || g_.type(b).dtype != DType::s32 ||
        !sees_no_padding || !uses_.has_single_reader(b))
      return;
    const std::span<const int8_t> weights = g_.values[layer.inputs[1]].constant->as<int8_t>();
    const std::span<const i32> bias = g_.values[b].constant->as<i32>();
    const size_t each = weights.size() / bias.size();
    std::vector<i32> corrected;
    for (size_t o = 0; o < bias.size(); ++o) {
      i64 sum = 0;
      for (const int8_t v : weights.subspan(o * each, each)) sum += v;
      const double own = bias[o] - excess * static_cast<double>(sum);
      if (std::abs(own) >= std::numeric_limits<i32>::max()) return;
      corrected.push_back(static_cast<i32>(std::nearbyint(own)));
    }
    ++changed_;
    g_.values[b].constant = constant_of(std::move(corrected));
  }

  Graph& g_;
  const Uses uses_;
  int changed_ = 0;
};

}  // namespace

double excess_of_sum(const Graph& g, const Node& node) {
  const bool has_both = node.inputs.size() == 1 && node.outputs.size() == 1;
  return has_both ? excess_of_sum(node.op, g.type(node.inputs[0]), g.type(node.outputs[0])) : 0;
}
int correct_biases_behind_means(Graph& g) { return Corrector(g).run(); }

}  // namespace deuteron

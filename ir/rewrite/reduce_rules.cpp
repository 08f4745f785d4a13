// SPDX-License-Identifier: Apache-2.0
// Means and sums are layers whose weights are all the same: sums are exact in int32 and the result
// has a scale of its own, where average pooling would round to steps of its operand's scale, which
// are coarse beside a mean of many elements. Extremes are max pooling. Beside an NPU and for our
// own runtime reductions are quantized as they are: one kernel reduces any neighbouring axes at
// once, where pools and layers need permutes, weights and more cycles.
#include "ir/rewrite/reduce_rules.h"

#include "ir/rewrite/borders.h"
#include "ir/rewrite/view_rules.h"
#include "ops/families.h"
#include "ops/quantize/rounded.h"
#include "ops/reduce/slices.h"

namespace deuteron {

namespace {

// The kernels of depthwise convolutions need scratch for each position of the window (496 bytes
// with MVE), and a weight for each channel.
constexpr i64 kMostTaps = 64, kMostWeights = 16384;
// 127 * 255 * elements stays within int32.
constexpr i64 kMostSummed = 60000;

class Reducer {
 public:
  Reducer(const Graph& g, const Uses& uses, NodeId root)
      : g_(g), uses_(uses), root_(root), b_(g, root, "") {}

  // The mean of whole rows or columns of an image, where it is finer than a pool: in a float model,
  // which gives the result parameters of its own, and in a quantized one that has them.
  bool is_better_as_mean(const AvgPool2d& pool, bool beside_npu) {
    const ValueId x = g_.nodes[root_].inputs[0];
    const Shape &from = g_.type(x).shape, &to = g_.type(g_.nodes[root_].outputs[0]).shape;
    if (g_.type(x).dtype != DType::f32 || pool.pad != HW{} ||
        (pool.divisor != 0 && pool.divisor != pool.kernel.h * pool.kernel.w))
      return false;
    const auto whole_or_none = [](i64 kernel, i64 in, i64 out) {
      return (kernel == in && out == 1) || (kernel == 1 && out == in);
    };
    if (!whole_or_none(pool.kernel.h, from[1], to[1]) ||
        !whole_or_none(pool.kernel.w, from[2], to[2]))
      return false;
    const ValueId steps = dequantized(g_, uses_, behind_views(g_, uses_, x));
    if (steps < 0) return !beside_npu || !is_pooled_by_convolution(x);
    find_wanted();
    return g_.type(steps).dtype == DType::s8 && !wanted_.empty() && wanted_ != g_.type(steps).quant;
  }

  // Whether it stays between int8 values: that of a float model will, that of a quantized one where
  // both sides are.
  bool is_int8() {
    const Node& node = g_.nodes[root_];
    const Shape& x = g_.type(node.inputs[0]).shape;
    if (g_.type(node.outputs[0]).dtype != DType::f32 ||
        slices_of(x, std::get<Reduce>(node.op).axes).slice == 1)
      return false;
    if (dequantized(g_, uses_, node.inputs[0]) < 0) return true;
    find_wanted();
    return !wanted_.empty();
  }

  std::optional<Patch> run() {
    const Node& node = g_.nodes[root_];
    const Reduce op = std::get<Reduce>(node.op);
    const Type& y = g_.type(node.outputs[0]);
    ValueId x = node.inputs[0];
    if (y.dtype != DType::f32) return std::nullopt;
    Slices s = slices_of(g_.type(x).shape, op.axes);
    if (s.slice == 1) return b_.replace_root(Reshape{y.shape}, {x});
    const ValueId steps = dequantized(g_, uses_, x);
    quantized_ = steps >= 0;
    const bool sums = op.fn == Reduce::kMean || op.fn == Reduce::kSum;
    if (quantized_) find_wanted();
    const bool by_layer = sums && (!quantized_ || !wanted_.empty()) && s.slice <= kMostSummed;
    if (!s.neighbours ||
        (by_layer && s.inner > 1 && (s.slice > kMostTaps || s.slice * s.inner > kMostWeights))) {
      x = slices_last(x, op.axes);
      s = {s.outer * s.inner, s.slice, 1, true};
    }
    if (by_layer) {
      x = rounded(summed(x, s, op.fn == Reduce::kMean ? 1.0f / static_cast<float>(s.slice) : 1.0f),
                  wanted_);
      return b_.replace_root(Reshape{y.shape}, {x});
    }
    const Quant quant = quantized_ ? g_.type(steps).quant : Quant{};
    if (op.fn == Reduce::kMin) x = rounded(b_.add(Unary{UnaryFn::neg, 0}, {x}), mirrored(quant));
    x = pooled(x, s, sums);
    x = rounded(x, op.fn == Reduce::kMin ? mirrored(quant) : quant);
    if (op.fn != Reduce::kSum && op.fn != Reduce::kMin)
      return b_.replace_root(Reshape{y.shape}, {x});
    x = viewed(x, y.shape);
    if (op.fn == Reduce::kMin) return b_.replace_root(Unary{UnaryFn::neg, 0}, {x});
    Pointwise times;
    PointStep step;
    step.fn = PointFn::mul;
    step.b = {PointOperand::kNumber, static_cast<float>(s.slice)};
    times.program.steps.push_back(step);
    return b_.replace_root(times, {x});
  }

 private:
  ValueId slices_last(ValueId x, const Axes& axes) { return deuteron::slices_last(b_, x, axes); }
  ValueId viewed(ValueId x, Shape shape) { return deuteron::viewed(b_, x, std::move(shape)); }

  // Such a pool takes no kernel of its own: the convolution pools its results as they leave
  // (kernels/convolution_pool).
  bool is_pooled_by_convolution(ValueId x) const {
    while (uses_.readers[x].size() == 1 && uses_.producer[x] >= 0) {
      const NodeId n = uses_.producer[x];
      if (const Conv2d* conv = op_as<Conv2d>(g_, n)) return conv->groups == 1;
      if (!is_quantize_or_dequantize(g_.nodes[n].op)) return false;
      x = g_.nodes[n].inputs[0];
    }
    return false;
  }

  // The parameters that everybody who reads the root quantizes to.
  void find_wanted() {
    const ValueId y = g_.nodes[root_].outputs[0];
    for (const NodeId n : uses_.readers[y]) {
      const Quant* quant = quantizes_to(g_, n);
      if (!quant || (!wanted_.empty() && wanted_ != *quant)) {
        wanted_ = {};
        return;
      }
      wanted_ = *quant;
    }
  }

  ValueId weights(Shape shape, float weight) {
    const auto count = static_cast<size_t>(numel(shape));
    if (!quantized_)
      return b_.constant(DType::f32, std::move(shape), std::vector<float>(count, weight));
    Quant quant;
    quant.axis = 0;
    quant.scale.assign(static_cast<size_t>(shape[0]), weight / 127);
    quant.zero_point.assign(static_cast<size_t>(shape[0]), 0);
    const ValueId steps =
        b_.constant(Type{DType::s8, shape, quant}, constant_of(std::vector<int8_t>(count, 127)));
    return dequantized_float(b_, steps);
  }

  ValueId summed(ValueId x, const Slices& s, float weight) {
    if (s.inner == 1) {
      x = viewed(x, {s.outer, s.slice});
      return b_.add(Linear{}, {x, weights({1, s.slice}, weight)});
    }
    x = viewed(x, {1, s.outer, s.slice, s.inner});
    Conv2d conv;
    conv.groups = s.inner;
    conv.stride = {1, s.slice};
    return b_.add(conv, {x, weights({s.inner, 1, s.slice, 1}, weight)});
  }

  ValueId pooled(ValueId x, const Slices& s, bool average) {
    x = viewed(x, {1, s.outer, s.slice, s.inner});
    if (!average) {
      MaxPool2d pool;
      pool.kernel = pool.stride = {1, s.slice};
      return b_.add(pool, {x});
    }
    AvgPool2d pool;
    pool.kernel = pool.stride = {1, s.slice};
    return b_.add(pool, {x});
  }

  // In a quantized model every operator gets the parameters that its own kernel gives.
  ValueId rounded(ValueId x, const Quant& quant) {
    return quant.empty() ? x : deuteron::rounded(b_, x, quant);
  }

  const Graph& g_;
  const Uses& uses_;
  NodeId root_;
  PatchBuilder b_;
  bool quantized_ = false;
  Quant wanted_;
};

}  // namespace

static std::optional<Patch> reduce_by_layers(const Reduce&, const Graph& g, const Uses& uses,
                                             NodeId root) {
  return Reducer(g, uses, root).run();
}

static std::optional<Patch> reduce_unless_int8(const Reduce&, const Graph& g, const Uses& uses,
                                               NodeId root) {
  if (Reducer(g, uses, root).is_int8()) return std::nullopt;
  return Reducer(g, uses, root).run();
}

const Rule kReduceByLayers = kRule<reduce_by_layers>, kReduceUnlessInt8 = kRule<reduce_unless_int8>;

static std::optional<Patch> pool_to_mean(const Graph& g, const Uses& uses, NodeId root,
                                         bool beside_npu) {
  const AvgPool2d* pool = op_as<AvgPool2d>(g, root);
  if (!pool || !Reducer(g, uses, root).is_better_as_mean(*pool, beside_npu)) return std::nullopt;
  Reduce mean;
  if (pool->kernel.h > 1) mean.axes.push_back(1);
  if (pool->kernel.w > 1) mean.axes.push_back(2);
  if (mean.axes.empty()) return std::nullopt;
  PatchBuilder b(g, root, "");
  return b.replace_root(mean, g.nodes[root].inputs);
}
std::optional<Patch> pool_to_mean(const Graph& g, const Uses& uses, NodeId root) {
  return pool_to_mean(g, uses, root, false);
}
std::optional<Patch> pool_to_mean_beside_npu(const Graph& g, const Uses& uses, NodeId root) {
  return pool_to_mean(g, uses, root, true);
}

}  // namespace deuteron

// Means and sums are layers whose weights are all the same: sums are exact in int32 and the result has a scale of its own, where average
// pooling would round to steps of its operand's scale, which are coarse beside a mean of many elements. Extremes are max pooling.
#include "passes/reduce_rules.h"

#include <algorithm>
#include <numeric>

#include "passes/view_rules.h"

namespace deuteron {

namespace {

// x seen as [outer, slice, inner], which is a reshape when the reduced axes are neighbours.
struct Slices {
  i64 outer = 1, slice = 1, inner = 1;
  bool neighbours = true;
};
Slices slices_of(const Shape& x, const Axes& axes) {
  Slices s;
  bool begun = false, ended = false;
  for (size_t k = 0; k < x.size(); ++k) {
    const bool reduced = std::find(axes.begin(), axes.end(), static_cast<i64>(k)) != axes.end();
    if (reduced) {
      if (ended && x[k] != 1) s.neighbours = false;
      begun = begun || x[k] != 1;
      s.slice *= x[k];
    } else if (x[k] != 1) {
      if (begun) ended = true;
      (begun ? s.inner : s.outer) *= x[k];
    }
  }
  return s;
}

// The kernels of depthwise convolutions need scratch for each position of the window (496 bytes with MVE), and a weight for each channel.
constexpr i64 kMostTaps = 64, kMostWeights = 16384;
// 127 * 255 * elements stays within int32.
constexpr i64 kMostSummed = 60000;

class Reducer {
 public:
  Reducer(const Graph& g, const Uses& uses, NodeId root) : g_(g), uses_(uses), root_(root), b_(g, root, "") {}

  std::optional<Patch> run() {
    const Node& node = g_.nodes[root_];
    const Reduce op = std::get<Reduce>(node.op);
    const Type& y = g_.type(node.outputs[0]);
    ValueId x = node.inputs[0];
    if (y.dtype != DType::f32) return std::nullopt;
    Slices s = slices_of(g_.type(x).shape, op.axes);
    if (s.slice == 1) return b_.replace_root(Reshape{y.shape}, {x});
    const NodeId d = producer_as<Dequantize>(g_, uses_, x);
    quantized_ = d >= 0;
    const bool sums = op.fn == Reduce::kMean || op.fn == Reduce::kSum;
    const bool by_layer = sums && !quantized_ && s.slice <= kMostSummed;
    if (!s.neighbours || (by_layer && s.inner > 1 && (s.slice > kMostTaps || s.slice * s.inner > kMostWeights))) {
      x = slices_last(x, op.axes);
      s = {s.outer * s.inner, s.slice, 1, true};
    }
    if (by_layer) x = summed(x, s, op.fn == Reduce::kMean ? 1.0f / static_cast<float>(s.slice) : 1.0f);
    else if (sums) x = averaged(x, s, op.fn == Reduce::kSum, d);
    else x = extreme(x, s, op.fn == Reduce::kMin);
    return b_.replace_root(Reshape{y.shape}, {x});
  }

 private:
  ValueId slices_last(ValueId x, const Axes& axes) {
    const Shape shape = g_.type(x).shape;
    Axes perm;
    for (size_t k = 0; k < shape.size(); ++k)
      if (std::find(axes.begin(), axes.end(), static_cast<i64>(k)) == axes.end()) perm.push_back(static_cast<i64>(k));
    perm.insert(perm.end(), axes.begin(), axes.end());
    return is_identity(perm) ? x : b_.add(Permute{perm}, {x});
  }

  ValueId viewed(ValueId x, Shape shape) { return b_.type(x).shape == shape ? x : b_.add(Reshape{std::move(shape)}, {x}); }

  ValueId summed(ValueId x, const Slices& s, float weight) {
    if (s.inner == 1) {
      x = viewed(x, {s.outer, s.slice});
      return b_.add(Linear{}, {x, b_.constant(DType::f32, {1, s.slice}, std::vector<float>(static_cast<size_t>(s.slice), weight))});
    }
    x = viewed(x, {1, s.outer, s.slice, s.inner});
    Conv2d conv;
    conv.groups = s.inner;
    conv.stride = {1, s.slice};
    return b_.add(conv, {x, b_.constant(DType::f32, {s.inner, 1, s.slice, 1}, std::vector<float>(static_cast<size_t>(s.slice * s.inner), weight))});
  }

  ValueId averaged(ValueId x, const Slices& s, bool sum, NodeId dequantize) {
    AvgPool2d pool;
    pool.kernel = pool.stride = {1, s.slice};
    x = b_.add(pool, {viewed(x, {1, s.outer, s.slice, s.inner})});
    if (!sum) return x;
    if (dequantize >= 0) {  // the pool's own result, so that both operators are int8
      const Quant quant = g_.type(g_.nodes[dequantize].inputs[0]).quant;
      const Shape shape = b_.type(x).shape;
      x = b_.add_typed(Quantize{quant}, {x}, Type{DType::s8, shape, quant});
      x = b_.add_typed(Dequantize{}, {x}, Type{DType::f32, shape, {}});
    }
    Pointwise times;
    PointStep step;
    step.fn = PointFn::mul;
    step.b = {PointOperand::kNumber, static_cast<float>(s.slice)};
    times.program.steps.push_back(step);
    return b_.add(times, {x});
  }

  ValueId extreme(ValueId x, const Slices& s, bool least) {
    MaxPool2d pool;
    pool.kernel = pool.stride = {1, s.slice};
    if (least) x = negated(x);
    x = b_.add(pool, {viewed(x, {1, s.outer, s.slice, s.inner})});
    return least ? negated(x) : x;
  }
  // In a quantized model the mirrored parameters are exact: q becomes -1 - q.
  ValueId negated(ValueId x) {
    return b_.add(Unary{UnaryFn::neg, 0}, {x});
  }

  const Graph& g_;
  const Uses& uses_;
  NodeId root_;
  PatchBuilder b_;
  bool quantized_ = false;
};

}  // namespace

std::optional<Patch> reduce_by_layers(const Graph& g, const Uses& uses, NodeId root) {
  if (!op_as<Reduce>(g, root)) return std::nullopt;
  return Reducer(g, uses, root).run();
}

}  // namespace deuteron

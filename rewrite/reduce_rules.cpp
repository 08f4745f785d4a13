// Means and sums are layers whose weights are all the same: sums are exact in int32 and the result has a scale of its own, where average
// pooling would round to steps of its operand's scale, which are coarse beside a mean of many elements. Extremes are max pooling.
#include "rewrite/reduce_rules.h"

#include <algorithm>
#include <numeric>

#include "rewrite/view_rules.h"

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
    if (quantized_) find_wanted();
    const bool by_layer = sums && (!quantized_ || !wanted_.empty()) && s.slice <= kMostSummed;
    if (!s.neighbours || (by_layer && s.inner > 1 && (s.slice > kMostTaps || s.slice * s.inner > kMostWeights))) {
      x = slices_last(x, op.axes);
      s = {s.outer * s.inner, s.slice, 1, true};
    }
    if (by_layer) {
      x = rounded(summed(x, s, op.fn == Reduce::kMean ? 1.0f / static_cast<float>(s.slice) : 1.0f), wanted_);
      return b_.replace_root(Reshape{y.shape}, {x});
    }
    const Quant quant = quantized_ ? g_.type(g_.nodes[d].inputs[0]).quant : Quant{};
    if (op.fn == Reduce::kMin) x = rounded(b_.add(Unary{UnaryFn::neg, 0}, {x}), mirrored(quant));
    x = pooled(x, s, sums);
    x = rounded(x, op.fn == Reduce::kMin ? mirrored(quant) : quant);
    if (op.fn != Reduce::kSum && op.fn != Reduce::kMin) return b_.replace_root(Reshape{y.shape}, {x});
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
  ValueId slices_last(ValueId x, const Axes& axes) {
    const Shape shape = g_.type(x).shape;
    Axes perm;
    for (size_t k = 0; k < shape.size(); ++k)
      if (std::find(axes.begin(), axes.end(), static_cast<i64>(k)) == axes.end()) perm.push_back(static_cast<i64>(k));
    perm.insert(perm.end(), axes.begin(), axes.end());
    return is_identity(perm) ? x : b_.add(Permute{perm}, {x});
  }

  ValueId viewed(ValueId x, Shape shape) { return b_.type(x).shape == shape ? x : b_.add(Reshape{std::move(shape)}, {x}); }

  // The parameters that everybody who reads the root quantizes to.
  void find_wanted() {
    const ValueId y = g_.nodes[root_].outputs[0];
    for (const NodeId n : uses_.readers[y]) {
      const Quantize* q = op_as<Quantize>(g_, n);
      if (!q || (!wanted_.empty() && wanted_ != q->quant)) {
        wanted_ = {};
        return;
      }
      wanted_ = q->quant;
    }
  }

  ValueId weights(Shape shape, float weight) {
    const auto count = static_cast<size_t>(numel(shape));
    if (!quantized_) return b_.constant(DType::f32, std::move(shape), std::vector<float>(count, weight));
    Quant quant;
    quant.axis = 0;
    quant.scale.assign(static_cast<size_t>(shape[0]), weight / 127);
    quant.zero_point.assign(static_cast<size_t>(shape[0]), 0);
    const ValueId steps = b_.constant(Type{DType::s8, shape, quant}, constant_of(std::vector<int8_t>(count, 127)));
    return b_.add_typed(Dequantize{}, {steps}, Type{DType::f32, std::move(shape), {}});
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
    if (quant.empty()) return x;
    const Shape shape = b_.type(x).shape;
    x = b_.add_typed(Quantize{quant}, {x}, Type{DType::s8, shape, quant});
    return b_.add_typed(Dequantize{}, {x}, Type{DType::f32, shape, {}});
  }

  // Those of -x: step q becomes -1 - q, which loses nothing.
  static Quant mirrored(Quant quant) {
    if (quant.empty()) return quant;
    for (i32& zero : quant.zero_point) zero = -1 - zero;
    std::swap(quant.low, quant.high);
    quant.low = -1 - quant.low, quant.high = -1 - quant.high;
    return quant;
  }

  const Graph& g_;
  const Uses& uses_;
  NodeId root_;
  PatchBuilder b_;
  bool quantized_ = false;
  Quant wanted_;
};

}  // namespace

std::optional<Patch> reduce_by_layers(const Graph& g, const Uses& uses, NodeId root) {
  if (!op_as<Reduce>(g, root)) return std::nullopt;
  return Reducer(g, uses, root).run();
}

}  // namespace deuteron

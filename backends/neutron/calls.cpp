// See calls.h. A function for each action; limits are those of backends/neutron_model/microcode.h.
#include "backends/neutron/calls.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <map>

#include "backends/neutron/pack_weights.h"
#include "backends/neutron/scales.h"
#include "ops/reduce/multiplier.h"
#include "ops/op.h"

namespace deuteron::neutron {
namespace {

using Fault = std::optional<Refusal>;

constexpr i64 kMostKernel = 4096;     // kernel, stride, dilation
constexpr i64 kMostTaps = 65535;      // kernel height * width * channels rounded up to 8
constexpr i64 kMostInner = 32768;     // of a matrix product
constexpr i64 kMostPixels = 65536;    // height and width of a resized image

// Axes with the strides of the operands along them; axes that every operand walks through as one are merged.
struct Walk {
  std::vector<i64> extent;
  std::vector<std::vector<i64>> stride;  // by operand

  void simplify();
  bool fits() const { return extent.size() <= kMaxRank; }
  void fill(i32 (&e)[kMaxRank]) const {
    std::fill(std::begin(e), std::end(e), 1);
    for (size_t i = 0; i < extent.size(); ++i) e[kMaxRank - extent.size() + i] = static_cast<i32>(extent[i]);
  }
  void fill(size_t operand, i32 (&s)[kMaxRank]) const {
    std::fill(std::begin(s), std::end(s), 0);
    for (size_t i = 0; i < extent.size(); ++i) s[kMaxRank - extent.size() + i] = static_cast<i32>(stride[operand][i]);
  }
};

void Walk::simplify() {
  Walk r;
  r.stride.resize(stride.size());
  for (size_t i = 0; i < extent.size(); ++i) {
    if (extent[i] == 1) continue;
    bool merge = !r.extent.empty();
    for (size_t k = 0; k < stride.size() && merge; ++k) merge = r.stride[k].back() == extent[i] * stride[k][i];
    if (merge) r.extent.back() *= extent[i];
    else r.extent.push_back(extent[i]);
    for (size_t k = 0; k < stride.size(); ++k) {
      if (merge) r.stride[k].back() = stride[k][i];
      else r.stride[k].push_back(stride[k][i]);
    }
  }
  if (r.extent.empty()) {
    r.extent = {1};
    for (auto& s : r.stride) s = {1};
  }
  *this = std::move(r);
}

class CallMaker {
 public:
  CallMaker(const Model& m, const Placement& p, const Machine& machine) : m_(m), p_(p), machine_(machine) {}
  Fault make(size_t step);
  CallList take() { return std::move(list_); }

 private:
  Fault wrong(std::string what, i64 measured, i64 limit, const char* rule) const {
    return Refusal{std::move(what), fmt::format("{}", measured), fmt::format("{}", limit), fmt::format("neutron.{}", rule)};
  }
  Fault bad_scale(const char* rule) const {
    return Refusal{"the ratio of the scales does not fit a multiplier", "2^30 or more", "below 2^30", fmt::format("neutron.{}", rule)};
  }

  // An operand being filled in, with what is needed to find it again should it be constant.
  struct Given {
    Operand* operand;
    i32 blob;
    i64 offset;
  };
  void locate(Operand& o, TensorId t, i64 more = 0);
  void constant(Operand& o, std::vector<u8> bytes);
  i32 blob_of(std::vector<u8> bytes);

  template <class C>
  void push(Kind kind, C& call) {
    Call c;
    c.kind = kind;
    static_assert(sizeof(C) % 4 == 0);
    for (const Given& g : given_) {
      const auto at = reinterpret_cast<const char*>(g.operand) - reinterpret_cast<const char*>(&call);
      DEUTERON_CHECK(at >= 0 && at < static_cast<std::ptrdiff_t>(sizeof(C)));
      c.constants.push_back({static_cast<size_t>(at) / 4, g.blob, g.offset});
    }
    given_.clear();
    c.words.resize(sizeof(C) / 4);
    std::memcpy(c.words.data(), &call, sizeof(C));
    c.ops = m_.steps[step_].origins;
    list_.calls.push_back(std::move(c));
  }

  Shape strides(TensorId t) const;
  Shape strides_over(TensorId t, const Shape& y) const;  // 0 along axes that repeat
  std::span<const int8_t> bytes_of_weights(TensorId t) const { return m_.tensors[t].constant->as<int8_t>(); }
  std::vector<i32> bias_of(TensorId t) const;
  i64 pitch(TensorId t) const { return p_.place[t].pitch; }
  static i32 word(i64 v) {
    DEUTERON_CHECK(v >= std::numeric_limits<i32>::min() && v <= std::numeric_limits<i32>::max());
    return static_cast<i32>(v);
  }
  template <class C>
  void bounds(C& c, const Step& s) const {
    c.y_min = s.low, c.y_max = s.high;
  }
  template <class C>
  void image(C& c, const Step& s, const Window& w) const;
  Fault window_limits(const Window& w, i64 channels, const char* rule) const;

  Fault convolve(const Step& s, const Window& w, bool transposed, std::span<const int8_t> weights, const Pooling* pooling = nullptr);
  Fault depthwise(const Step& s, const Depthwise& a);
  Fault fully_connected(const Step& s);
  Fault matmul(const Step& s, const BatchMatmul& a);
  Fault pool(const Step& s, const Pool& a);
  Fault pair(const Step& s, const Pairwise& a);
  Fault reduce(const Step& s, const Reduce& a);
  Fault softmax(const Step& s, const Softmax& a);
  Fault table(const Step& s, const Table& a);
  Fault prelu(const Step& s);
  Fault pad(const Step& s, const Pad& a);
  Fault mirror(const Step& s, const Pad& a);
  Fault resize(const Step& s, const Resize& a);
  void copy(Kind kind, TensorId x, i64 x_offset, TensorId y, i64 y_offset, Walk walk);

  const Model& m_;
  const Placement& p_;
  const Machine& machine_;
  size_t step_ = 0;
  std::vector<Given> given_;
  CallList list_;
  std::map<std::vector<u8>, i32> known_;
};

i32 CallMaker::blob_of(std::vector<u8> bytes) {
  const auto [at, is_new] = known_.try_emplace(bytes, static_cast<i32>(list_.blobs.size()));
  if (is_new) list_.blobs.push_back(std::move(bytes));
  return at->second;
}

void CallMaker::constant(Operand& o, std::vector<u8> bytes) { given_.push_back({&o, blob_of(std::move(bytes)), 0}); }

void CallMaker::locate(Operand& o, TensorId t, i64 more) {
  const Place& place = p_.place[t];
  const Root& root = p_.root[place.root];
  const i64 offset = place.offset + more;
  switch (root.home) {
    case Home::input:
      o = operand(Region::kInput, word(offset), word(root.index));
      break;
    case Home::output:
      o = operand(Region::kOutput, word(offset), word(root.index));
      break;
    case Home::scratch:
      o = operand(Region::kScratch, word(root.offset + offset));
      break;
    case Home::constant: {
      const auto bytes = m_.tensors[place.root].constant->as<u8>();
      given_.push_back({&o, blob_of({bytes.begin(), bytes.end()}), offset});
      break;
    }
    case Home::none:
      DEUTERON_CHECK(false, m_.tensors[t].name);
  }
}

Shape CallMaker::strides(TensorId t) const {
  const Shape& s = m_.type(t).shape;
  Shape r(s.size(), 1);
  i64 next = pitch(t);
  for (size_t i = s.size(); i-- > 0;) {
    if (i + 1 == s.size()) continue;
    r[i] = next;
    next *= s[i];
  }
  return r;
}

Shape CallMaker::strides_over(TensorId t, const Shape& y) const {
  const Shape own = strides(t), &s = m_.type(t).shape;
  Shape r(y.size(), 0);
  for (size_t back = 1; back <= s.size(); ++back)
    if (s[s.size() - back] != 1) r[y.size() - back] = own[s.size() - back];
  return r;
}

std::vector<i32> CallMaker::bias_of(TensorId t) const {
  if (t == kNoTensor) return {};
  const auto bytes = m_.tensors[t].constant->bytes;
  std::vector<i32> bias(bytes.size() / 4);
  std::memcpy(bias.data(), bytes.data(), bias.size() * 4);
  return bias;
}

template <class C>
void CallMaker::image(C& c, const Step& s, const Window& w) const {
  const Shape &x = m_.type(s.inputs[0]).shape, &y = m_.type(s.output).shape;
  c.n = word(x[0]), c.h = word(x[1]), c.w = word(x[2]), c.c = word(x[3]);
  c.x_pitch = word(pitch(s.inputs[0]));
  c.kernel_h = word(w.kernel_h), c.kernel_w = word(w.kernel_w), c.stride_h = word(w.stride_h), c.stride_w = word(w.stride_w);
  c.dilation_h = word(w.dilation_h), c.dilation_w = word(w.dilation_w), c.pad_top = word(w.top), c.pad_left = word(w.left);
  c.out_h = word(y[1]), c.out_w = word(y[2]);
  c.y_pitch = word(pitch(s.output));
}

Fault CallMaker::window_limits(const Window& w, i64 channels, const char* rule) const {
  const std::pair<const char*, i64> rows[] = {{"kernel height", w.kernel_h},   {"kernel width", w.kernel_w},
                                              {"stride down", w.stride_h},     {"stride across", w.stride_w},
                                              {"dilation down", w.dilation_h}, {"dilation across", w.dilation_w}};
  for (const auto& [what, measured] : rows)
    if (measured > kMostKernel) return wrong(what, measured, kMostKernel, rule);
  if (const i64 taps = w.kernel_h * w.kernel_w * round_up_to(channels, 8); taps > kMostTaps)
    return wrong("kernel taps times channels, rounded up to 8", taps, kMostTaps, rule);
  return std::nullopt;
}

// The kernel with the fewest predicted cycles among those that can do it.
Fault CallMaker::convolve(const Step& s, const Window& w, bool transposed, std::span<const int8_t> weights, const Pooling* pooling) {
  const Shape &x = m_.type(s.inputs[0]).shape, &y = m_.type(s.output).shape;
  const char* rule = transposed ? "transpose_conv" : "conv2d";
  if (auto fault = window_limits(w, x[3], rule)) return fault;
  const Quant& qx = m_.type(s.inputs[0]).quant;
  const auto factors = convolution_factors(qx, m_.type(s.inputs[1]).quant, s.y, y[3]);
  if (!factors) return bad_scale(rule);
  ConvPoolCall pooled{};
  ConvCall& c = pooled.conv;
  image(c, s, w);
  if (pooling) c.out_h = word(pooling->h), c.out_w = word(pooling->w);
  c.out_c = word(y[3]);
  c.x_zero = qx.zero_point[0], c.y_zero = s.y.zero_point[0];
  bounds(c, s);
  Kind kind = Kind::kConv2dStandardV1;
  if (transposed) kind = Kind::kConv2dTransposed;
  else if (w.kernel_h == 1 && w.kernel_w == 1 && !w.padded()) kind = Kind::kConv2dPointwise;
  else if (w.dilation_w == 1 && cost_of(machine_, Kind::kConv2dStandardV2, c).total() < cost_of(machine_, kind, c).total())
    kind = Kind::kConv2dStandardV2;
  locate(c.x, s.inputs[0]);
  locate(c.y, s.output);
  constant(c.weights, kind == Kind::kConv2dStandardV2 ? pack_by_row(weights, y[3], w.kernel_h, w.kernel_w, x[3])
                                                      : pack_by_channel(weights, y[3], w.kernel_h, w.kernel_w, x[3]));
  constant(c.params, pack_parameters(bias_of(s.inputs[2]), *factors));
  if (!pooling) {
    push(kind, c);
    return std::nullopt;
  }
  pooled.pool_h = word(pooling->kernel_h), pooled.pool_w = word(pooling->kernel_w), pooled.average = pooling->average ? 1 : 0;
  pooled.pool_min = pooling->low, pooled.pool_max = pooling->high;
  push(kind == Kind::kConv2dPointwise    ? Kind::kConv2dPointwisePool
       : kind == Kind::kConv2dStandardV2 ? Kind::kConv2dStandardV2Pool
                                         : Kind::kConv2dStandardV1Pool,
       pooled);
  return std::nullopt;
}

Fault CallMaker::depthwise(const Step& s, const Depthwise& a) {
  const Shape &x = m_.type(s.inputs[0]).shape, &y = m_.type(s.output).shape;
  const Window& w = a.window;
  const auto weights = bytes_of_weights(s.inputs[1]);
  if (x[3] == 1 && a.multiplier > 1) {  // a convolution of one channel: its weights transposed
    std::vector<int8_t> turned(weights.size());
    const i64 taps = w.kernel_h * w.kernel_w, channels = y[3];
    for (i64 t = 0; t < taps; ++t)
      for (i64 o = 0; o < channels; ++o) turned[o * taps + t] = weights[t * channels + o];
    return convolve(s, w, false, turned);
  }
  if (auto fault = window_limits(w, 8, "depthwise_conv2d")) return fault;
  const Quant& qx = m_.type(s.inputs[0]).quant;
  const auto factors = convolution_factors(qx, m_.type(s.inputs[1]).quant, s.y, y[3]);
  if (!factors) return bad_scale("depthwise_conv2d");
  DepthwiseCall c{};
  image(c, s, w);
  c.multiplier = word(a.multiplier);
  c.x_zero = qx.zero_point[0], c.y_zero = s.y.zero_point[0];
  bounds(c, s);
  const Kind kind = cost_of(machine_, Kind::kConv2dDepthwiseDense, c).total() < cost_of(machine_, Kind::kConv2dDepthwiseV1, c).total()
                        ? Kind::kConv2dDepthwiseDense
                        : Kind::kConv2dDepthwiseV1;
  locate(c.x, s.inputs[0]);
  locate(c.y, s.output);
  constant(c.weights, pack_depthwise(weights, w.kernel_h, w.kernel_w, y[3]));
  constant(c.params, pack_parameters(bias_of(s.inputs[2]), *factors));
  push(kind, c);
  return std::nullopt;
}

Fault CallMaker::fully_connected(const Step& s) {
  const Shape& w = m_.type(s.inputs[1]).shape;
  if (round_up_to(w[1], 8) > kMostTaps) return wrong("inputs, rounded up to 8", round_up_to(w[1], 8), kMostTaps, "fully_connected");
  const Quant& qx = m_.type(s.inputs[0]).quant;
  const auto factors = fully_connected_factors(qx, m_.type(s.inputs[1]).quant, s.y, w[0]);
  if (!factors) return bad_scale("fully_connected");
  FullyConnectedCall c{};
  c.rows = word(m_.type(s.inputs[0]).elements() / w[1]), c.in = word(w[1]), c.out = word(w[0]);
  c.x_zero = qx.zero_point[0], c.y_zero = s.y.zero_point[0];
  bounds(c, s);
  locate(c.x, s.inputs[0]);
  locate(c.y, s.output);
  constant(c.weights, pack_by_channel(bytes_of_weights(s.inputs[1]), w[0], 1, 1, w[1]));
  constant(c.params, pack_parameters(bias_of(s.inputs[2]), *factors));
  push(Kind::kFullyConnected, c);
  return std::nullopt;
}

// One call where the batch axes of both operands are one stride each; else one for each index of the outer batch axes.
Fault CallMaker::matmul(const Step& s, const BatchMatmul& a) {
  const TensorId x = s.inputs[0], other = s.inputs[1];
  const Shape& y = m_.type(s.output).shape;
  const size_t rank = y.size();
  const auto f = matmul_factor(m_.type(x).quant, m_.type(other).quant, s.y);
  if (!f) return bad_scale("batch_matmul");
  const Shape &xs = m_.type(x).shape, x_own = strides(x), &os = m_.type(other).shape, other_own = strides(other);
  MatMulCall base{};
  base.m = word(y[rank - 2]), base.n = word(y[rank - 1]), base.k = word(a.adjoint_x ? xs[xs.size() - 2] : xs.back());
  if (base.k > kMostInner) return wrong("inner extent", base.k, kMostInner, "batch_matmul");
  base.x_m_stride = word(x_own[xs.size() - (a.adjoint_x ? 1 : 2)]), base.x_k_stride = word(x_own[xs.size() - (a.adjoint_x ? 2 : 1)]);
  base.other_k_stride = word(other_own[os.size() - (a.adjoint_y ? 1 : 2)]),
  base.other_n_stride = word(other_own[os.size() - (a.adjoint_y ? 2 : 1)]);
  base.x_zero = m_.type(x).quant.zero_point[0], base.other_zero = m_.type(other).quant.zero_point[0], base.y_zero = s.y.zero_point[0];
  base.multiplier = f->value, base.shift = f->shift;
  bounds(base, s);
  Walk batch;
  const Shape xb = strides_over(x, y), ob = strides_over(other, y), yb = strides(s.output);
  batch.stride.resize(3);
  for (size_t i = 0; i + 2 < rank; ++i) {
    batch.extent.push_back(y[i]);
    batch.stride[0].push_back(xb[i]), batch.stride[1].push_back(ob[i]), batch.stride[2].push_back(yb[i]);
  }
  batch.simplify();
  const size_t axes = batch.extent.size();
  base.batch = word(batch.extent.back());
  base.x_batch_stride = base.batch == 1 ? 0 : word(batch.stride[0].back());
  base.other_batch_stride = base.batch == 1 ? 0 : word(batch.stride[1].back());
  const i64 outer = numel(std::span(batch.extent).first(axes - 1));
  for (i64 i = 0; i < outer; ++i) {
    i64 rest = i, at[3] = {};
    for (size_t k = axes - 1; k-- > 0;) {
      for (size_t o = 0; o < 3; ++o) at[o] += rest % batch.extent[k] * batch.stride[o][k];
      rest /= batch.extent[k];
    }
    MatMulCall c = base;
    locate(c.x, x, at[0]);
    locate(c.other, other, at[1]);
    locate(c.y, s.output, at[2]);
    push(Kind::kBatchMatMul, c);
  }
  return std::nullopt;
}

Fault CallMaker::pool(const Step& s, const Pool& a) {
  if (auto fault = window_limits(a.window, 8, a.average ? "avg_pool2d" : "max_pool2d")) return fault;
  PoolCall c{};
  image(c, s, a.window);
  bounds(c, s);
  locate(c.x, s.inputs[0]);
  locate(c.y, s.output);
  push(a.average ? Kind::kAvgPool : Kind::kMaxPool, c);
  return std::nullopt;
}

Fault CallMaker::pair(const Step& s, const Pairwise& a) {
  const TensorId x = s.inputs[0], other = s.inputs[1];
  const Shape& y = m_.type(s.output).shape;
  const auto f = pair_factors(a.fn, m_.type(x).quant, m_.type(other).quant, s.y);
  if (!f) return bad_scale("pairwise");
  Walk walk{y, {strides_over(x, y), strides_over(other, y), strides(s.output)}};
  walk.simplify();
  if (!walk.fits()) return wrong("axes", static_cast<i64>(walk.extent.size()), kMaxRank, "pairwise");
  PairCall c{};
  walk.fill(c.extent);
  walk.fill(0, c.x_stride);
  walk.fill(1, c.other_stride);
  c.left_shift = f->left_shift;
  c.x_zero = m_.type(x).quant.zero_point[0], c.x_multiplier = f->x.value, c.x_shift = f->x.shift;
  c.other_zero = m_.type(other).quant.zero_point[0], c.other_multiplier = f->other.value, c.other_shift = f->other.shift;
  c.y_zero = s.y.zero_point[0], c.y_multiplier = f->y.value, c.y_shift = f->y.shift;
  bounds(c, s);
  locate(c.x, x);
  locate(c.other, other);
  locate(c.y, s.output);
  constexpr Kind kKinds[] = {Kind::kAdd, Kind::kSub, Kind::kMul, Kind::kMaximum, Kind::kMinimum};
  push(kKinds[static_cast<size_t>(a.fn)], c);
  return std::nullopt;
}

Fault CallMaker::reduce(const Step& s, const Reduce& a) {
  const Type& x = m_.type(s.inputs[0]);
  i64 count = 1;
  for (size_t i = 0; i < a.axes.size(); ++i) count *= a.axes[i] ? x.shape[i] : 1;
  if (count > kMostSummed) return wrong("elements of a reduction", count, kMostSummed, "reduce");
  Axes extent;
  std::vector<bool> flag;
  for (size_t i = 0; i < a.axes.size(); ++i) {
    const bool merge = a.axes.size() > kMaxRank && !extent.empty() && (flag.back() == a.axes[i] || x.shape[i] == 1);
    if (merge) extent.back() *= x.shape[i];
    else extent.push_back(x.shape[i]), flag.push_back(a.axes[i]);
  }
  if (extent.size() > kMaxRank) return wrong("axes", static_cast<i64>(extent.size()), kMaxRank, "reduce");
  ReduceCall c{};
  const size_t skip = kMaxRank - extent.size();
  std::fill(std::begin(c.extent), std::end(c.extent), 1);
  for (size_t i = 0; i < extent.size(); ++i) {
    c.extent[skip + i] = word(extent[i]);
    if (flag[i]) c.axes |= 1 << (skip + i);
  }
  Result<Factor> f = Factor{};
  if (a.fn == ReduceFn::mean || a.fn == ReduceFn::sum) f = mean_factor(x.quant, s.y, a.fn == ReduceFn::mean ? count : 1);
  if (!f) return bad_scale("reduce");
  c.x_zero = x.quant.zero_point[0], c.y_zero = s.y.zero_point[0], c.multiplier = f->value, c.shift = f->shift;
  bounds(c, s);
  locate(c.x, s.inputs[0]);
  locate(c.y, s.output);
  const bool image = x.rank() == 4 && !a.axes[0] && a.axes[1] && a.axes[2] && !a.axes[3];
  Kind kind = Kind::kReduceMean;
  if (a.fn == ReduceFn::mean && image) kind = Kind::kGlobalAvgPool;
  if (a.fn == ReduceFn::sum) kind = Kind::kReduceSum;
  if (a.fn == ReduceFn::maximum) kind = Kind::kReduceMax;
  if (a.fn == ReduceFn::minimum) kind = Kind::kReduceMin;
  push(kind, c);
  return std::nullopt;
}

Fault CallMaker::softmax(const Step& s, const Softmax& a) {
  const Type& x = m_.type(s.inputs[0]);
  const auto f = softmax_factors(x.quant, a.beta);
  if (!f) return Refusal{"the scale of x is too small", fmt::format("{:g}", x.quant.scale[0]), "2^-26", "neutron.softmax"};
  SoftmaxCall c{};
  c.columns = word(x.shape.back()), c.rows = word(x.elements() / x.shape.back());
  c.multiplier = f->input.value, c.shift = f->input.shift, c.diff_min = f->diff_min;
  locate(c.x, s.inputs[0]);
  locate(c.y, s.output);
  push(Kind::kSoftmax, c);
  return std::nullopt;
}

// A table that only bounds needs no table.
Fault CallMaker::table(const Step& s, const Table& a) {
  const Type& x = m_.type(s.inputs[0]);
  const auto [low, high] = std::minmax_element(a.entry.begin(), a.entry.end());
  const i32 shift = x.quant.scale[0] == s.y.scale[0] ? s.y.zero_point[0] - x.quant.zero_point[0] : 0;
  bool bounds_only = true;
  for (i32 q = -128; q <= 127; ++q) bounds_only &= a.entry[q + 128] == std::clamp<i32>(q + shift, *low, *high);
  if (bounds_only) {
    RescaleCall c{};
    c.count = word(x.elements());
    c.x_zero = shift ? x.quant.zero_point[0] : 0, c.y_zero = shift ? s.y.zero_point[0] : 0;
    c.multiplier = 1 << 30, c.shift = 1;  // times 1
    c.y_min = *low, c.y_max = *high;
    locate(c.x, s.inputs[0]);
    locate(c.y, s.output);
    push(Kind::kGlobalBiasScale, c);
    return std::nullopt;
  }
  TableCall c{};
  c.count = word(x.elements());
  locate(c.x, s.inputs[0]);
  locate(c.y, s.output);
  constant(c.table, {reinterpret_cast<const u8*>(a.entry.data()), reinterpret_cast<const u8*>(a.entry.data()) + 256});
  push(Kind::kTable, c);
  return std::nullopt;
}

Fault CallMaker::prelu(const Step& s) {
  const Type &x = m_.type(s.inputs[0]), &slope = m_.type(s.inputs[1]);
  const auto f = prelu_factors(x.quant, slope.quant, s.y);
  if (!f) return bad_scale("prelu");
  Walk walk{x.shape, {strides_over(s.inputs[1], x.shape), strides(s.output)}};
  walk.simplify();
  if (!walk.fits()) return wrong("axes", static_cast<i64>(walk.extent.size()), kMaxRank, "prelu");
  PreluCall c{};
  walk.fill(c.extent);
  walk.fill(0, c.alpha_stride);
  c.x_zero = x.quant.zero_point[0], c.alpha_zero = slope.quant.zero_point[0], c.y_zero = s.y.zero_point[0];
  c.positive_multiplier = f->positive.value, c.positive_shift = f->positive.shift;
  c.negative_multiplier = f->negative.value, c.negative_shift = f->negative.shift;
  bounds(c, s);
  locate(c.x, s.inputs[0]);
  locate(c.alpha, s.inputs[1]);
  locate(c.y, s.output);
  push(Kind::kPrelu, c);
  return std::nullopt;
}

Fault CallMaker::pad(const Step& s, const Pad& a) {
  const Shape& x = m_.type(s.inputs[0]).shape;
  Axes extent, before, after;
  for (size_t i = 0; i < x.size(); ++i) {
    // An axis without padding goes into the one around it.
    if (!extent.empty() && a.before[i] == 0 && a.after[i] == 0 && x.size() > kMaxRank) {
      extent.back() *= x[i], before.back() *= x[i], after.back() *= x[i];
    } else {
      extent.push_back(x[i]), before.push_back(a.before[i]), after.push_back(a.after[i]);
    }
  }
  if (extent.size() > kMaxRank) return wrong("axes", static_cast<i64>(extent.size()), kMaxRank, "pad");
  PadCall c{};
  std::fill(std::begin(c.extent), std::end(c.extent), 1);
  for (size_t i = 0; i < extent.size(); ++i) {
    const size_t to = kMaxRank - extent.size() + i;
    c.extent[to] = word(extent[i]), c.before[to] = word(before[i]), c.after[to] = word(after[i]);
  }
  c.value = a.value;
  locate(c.x, s.inputs[0]);
  locate(c.y, s.output);
  push(Kind::kPad, c);
  return std::nullopt;
}

// The inside first, then for each axis its mirrored planes one by one, copied within the result.
Fault CallMaker::mirror(const Step& s, const Pad& a) {
  const Shape& x = m_.type(s.inputs[0]).shape;
  const Shape own = strides(s.inputs[0]), to = strides(s.output);
  i64 start = 0;
  for (size_t i = 0; i < x.size(); ++i) start += a.before[i] * to[i];
  copy(Kind::kSlice, s.inputs[0], 0, s.output, start, {x, {own, to}});
  Shape filled = x;  // extents that are there, from `from` on
  i64 from = start;
  const i64 edge = a.fn == PadFn::reflect ? 1 : 0;
  for (size_t i = 0; i < x.size(); ++i) {
    Shape plane = filled;
    plane[i] = 1;
    for (i64 k = 1; k <= a.before[i]; ++k)
      copy(Kind::kSlice, s.output, from + (k - 1 + edge) * to[i], s.output, from - k * to[i], {plane, {to, to}});
    for (i64 k = 1; k <= a.after[i]; ++k)
      copy(Kind::kSlice, s.output, from + (x[i] - k - edge) * to[i], s.output, from + (x[i] - 1 + k) * to[i], {plane, {to, to}});
    filled[i] += a.before[i] + a.after[i];
    from -= a.before[i] * to[i];
  }
  return std::nullopt;
}

Fault CallMaker::resize(const Step& s, const Resize& a) {
  const Shape &x = m_.type(s.inputs[0]).shape, &y = m_.type(s.output).shape;
  for (const i64 e : {x[1], x[2], y[1], y[2]})
    if (e > kMostPixels) return wrong("height or width", e, kMostPixels, "resize");
  ResizeCall c{};
  c.n = word(x[0]), c.h = word(x[1]), c.w = word(x[2]), c.c = word(x[3]), c.out_h = word(y[1]), c.out_w = word(y[2]);
  c.align_corners = a.align_corners, c.half_pixel_centers = a.half_pixel_centers;
  locate(c.x, s.inputs[0]);
  locate(c.y, s.output);
  push(a.bilinear ? Kind::kResizeBilinear : Kind::kResizeNearest, c);
  return std::nullopt;
}

// Axes beyond what a call has are walked through by several calls.
void CallMaker::copy(Kind kind, TensorId x, i64 x_offset, TensorId y, i64 y_offset, Walk walk) {
  walk.simplify();
  if (!walk.fits()) {
    Walk inner{{walk.extent.begin() + 1, walk.extent.end()}, {}};
    for (const auto& st : walk.stride) inner.stride.push_back({st.begin() + 1, st.end()});
    for (i64 i = 0; i < walk.extent[0]; ++i) copy(kind, x, x_offset + i * walk.stride[0][0], y, y_offset + i * walk.stride[1][0], inner);
    return;
  }
  CopyCall c{};
  walk.fill(c.extent);
  walk.fill(0, c.x_stride);
  walk.fill(1, c.y_stride);
  locate(c.x, x, x_offset);
  locate(c.y, y, y_offset);
  push(kind, c);
}

Fault CallMaker::make(size_t step) {
  step_ = step;
  if (p_.free[step]) return std::nullopt;
  const Step& s = m_.steps[step];
  const TensorId x = s.inputs.empty() ? kNoTensor : s.inputs[0], y = s.output;
  if (const auto* a = std::get_if<Convolution>(&s.action))
    return convolve(s, a->window, false, bytes_of_weights(s.inputs[1]), a->pooling ? &*a->pooling : nullptr);
  if (const auto* a = std::get_if<TransposedConvolution>(&s.action)) return convolve(s, a->window, true, bytes_of_weights(s.inputs[1]));
  if (const auto* a = std::get_if<Depthwise>(&s.action)) return depthwise(s, *a);
  if (std::holds_alternative<FullyConnected>(s.action)) return fully_connected(s);
  if (const auto* a = std::get_if<BatchMatmul>(&s.action)) return matmul(s, *a);
  if (const auto* a = std::get_if<Pool>(&s.action)) return pool(s, *a);
  if (const auto* a = std::get_if<Pairwise>(&s.action)) return pair(s, *a);
  if (const auto* a = std::get_if<Reduce>(&s.action)) return reduce(s, *a);
  if (const auto* a = std::get_if<Softmax>(&s.action)) return softmax(s, *a);
  if (const auto* a = std::get_if<Table>(&s.action)) return table(s, *a);
  if (std::holds_alternative<Prelu>(s.action)) return prelu(s);
  if (const auto* a = std::get_if<Pad>(&s.action)) return a->fn == PadFn::value ? pad(s, *a) : mirror(s, *a);
  if (const auto* a = std::get_if<Resize>(&s.action)) return resize(s, *a);
  const Shape &xs = m_.type(x).shape, &ys = m_.type(y).shape;
  if (std::holds_alternative<View>(s.action)) {
    Shape dense(xs.size(), 1);
    for (size_t i = xs.size(); i-- > 1;) dense[i - 1] = dense[i] * xs[i];
    copy(Kind::kSlice, x, 0, y, 0, {xs, {strides(x), dense}});
  } else if (const auto* a = std::get_if<Transpose>(&s.action)) {
    const Shape own = strides(x);
    Shape turned;
    for (const i64 axis : a->perm) turned.push_back(own[axis]);
    copy(Kind::kTransposeChw, x, 0, y, 0, {ys, {turned, strides(y)}});
  } else if (const auto* c = std::get_if<Slice>(&s.action)) {
    const Shape own = strides(x);
    Shape stepped;
    i64 start = 0;
    for (size_t i = 0; i < own.size(); ++i) stepped.push_back(own[i] * c->stride[i]), start += own[i] * c->begin[i];
    copy(Kind::kSlice, x, start, y, 0, {ys, {stepped, strides(y)}});
  } else if (const auto* k = std::get_if<Concat>(&s.action)) {
    const Shape to = strides(y);
    i64 before = 0;
    for (size_t p = 0; p < s.inputs.size(); ++p) {
      const Shape& part = m_.type(s.inputs[p]).shape;
      if (!p_.part_free[step][p])
        copy(Kind::kStridedSliceConcat, s.inputs[p], 0, y, before * to[k->axis], {part, {strides(s.inputs[p]), to}});
      before += part[k->axis];
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<CallList> make_calls(const Model& model, const Placement& placement, const Machine& machine, Diagnostics& diagnostics) {
  CallMaker maker(model, placement, machine);
  bool good = true;
  for (size_t i = 0; i < model.steps.size(); ++i) {
    const auto fault = maker.make(i);
    if (!fault) continue;
    const Step& s = model.steps[i];
    const std::string op =
        s.origins.empty() ? "copy" : fmt::format("{} (operator {})", model.op_names[s.origins.front()], s.origins.front());
    diagnostics.add({Severity::error,
                     fmt::format("Neutron IR: {} `{}`", op, model.tensors[s.output].name),
                     fault->what,
                     fault->measured,
                     fault->limit,
                     fault->rule,
                     {}});
    good = false;
  }
  if (!good) return std::nullopt;
  return maker.take();
}

}  // namespace deuteron::neutron

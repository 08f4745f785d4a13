// A function for each kind of operator, and the table that finds it.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "backends/neutron/tflite_importer.h"
#include "ops/unary/table.h"

namespace deuteron::neutron {

#define TRY(expression) \
  if (Fault fault_ = (expression)) return fault_

// Image, weights and bias of a convolution; `axis` of the weights counts the channels of the result.
Fault Importer::convolved(size_t image, i32 axis, size_t bias_at) const {
  const Shape &x = type(image).shape, &w = type(1).shape, &r = y().shape;
  if (x.size() != 4 || w.size() != 4 || r.size() != 4)
    return wrong("ranks of image, weights and result", fmt::format("{}, {}, {}", x.size(), w.size(), r.size()), "4");
  TRY(weights(1, 4, axis, w[axis]));
  return bias(bias_at, w[axis]);
}

Fault Importer::image_result(i64 images, i64 channels) const {
  const Shape& r = y().shape;
  if (r[0] == images && r[3] == channels) return std::nullopt;
  return wrong("shape of the result", to_text(r), fmt::format("{} images of {} channels", images, channels));
}

// Padding and activation of what slides a window over the image `from` to make `to`.
template <class Options>
Fault Importer::sliding(const Options& p, const Shape& from, const Shape& to, Window* v, Step* s) const {
  TRY(window(p.padding(), from[1], to[1], v->kernel_h, v->stride_h, v->dilation_h, "height", &v->top, &v->bottom));
  TRY(window(p.padding(), from[2], to[2], v->kernel_w, v->stride_w, v->dilation_w, "width", &v->left, &v->right));
  return activation(p.fused_activation_function(), s);
}

Fault Importer::convolution(const tflite::Operator& o) {
  const auto* p = o.builtin_options_as_Conv2DOptions();
  if (!p) return wrong("no options");
  TRY(int8(0));
  TRY(int8_result());
  const Shape &x = type(0).shape, &w = type(1).shape, &r = y().shape;
  TRY(convolved(0, 0, 2));
  if (w[3] != x[3]) return wrong("channels of the weights", fmt::format("{}", w[3]), fmt::format("{}", x[3]));
  TRY(image_result(x[0], w[0]));
  Window v{w[1], w[2], p->stride_h(), p->stride_w(), p->dilation_h_factor(), p->dilation_w_factor()};
  Step s;
  TRY(sliding(*p, x, r, &v, &s));
  return push(Convolution{v}, {in_[0], in_[1], has(2) ? in_[2] : kNoTensor}, s);
}

Fault Importer::depthwise(const tflite::Operator& o) {
  const auto* p = o.builtin_options_as_DepthwiseConv2DOptions();
  if (!p) return wrong("no options");
  TRY(int8(0));
  TRY(int8_result());
  const Shape &x = type(0).shape, &w = type(1).shape, &r = y().shape;
  TRY(convolved(0, 3, 2));
  if (w[0] != 1 || w[3] % x[3] != 0) return wrong("shape of the weights", to_text(w), fmt::format("1, h, w, a multiple of {}", x[3]));
  TRY(image_result(x[0], w[3]));
  Window v{w[1], w[2], p->stride_h(), p->stride_w(), p->dilation_h_factor(), p->dilation_w_factor()};
  Step s;
  TRY(sliding(*p, x, r, &v, &s));
  return push(Depthwise{v, w[3] / x[3]}, {in_[0], in_[1], has(2) ? in_[2] : kNoTensor}, s);
}

Fault Importer::transposed(const tflite::Operator& o) {
  const auto* p = o.builtin_options_as_TransposeConvOptions();
  if (!p) return wrong("no options");
  std::vector<i64> given;
  TRY(ints(0, &given));
  TRY(int8(2));
  TRY(int8_result());
  TRY(shape_of_y(given));
  const Shape &x = type(2).shape, &w = type(1).shape, &r = y().shape;
  TRY(convolved(2, 0, 3));
  if (w[3] != x[3]) return wrong("channels of the weights", fmt::format("{}", w[3]), fmt::format("{}", x[3]));
  TRY(image_result(x[0], w[0]));
  Window v{w[1], w[2], p->stride_h(), p->stride_w(), 1, 1};
  Step s;
  TRY(sliding(*p, r, x, &v, &s));  // the padding is that of the convolution from the result to x
  return push(TransposedConvolution{v}, {in_[2], in_[1], has(3) ? in_[3] : kNoTensor}, s);
}

Fault Importer::fully_connected(const tflite::Operator& o) {
  const auto* p = o.builtin_options_as_FullyConnectedOptions();
  if (!p) return wrong("no options");
  if (p->weights_format() != tflite::FullyConnectedWeightsFormat::DEFAULT) return wrong("shuffled weights are not supported");
  TRY(int8(0));
  TRY(int8_result());
  const Shape& w = type(1).shape;
  if (w.size() != 2) return wrong("rank of the weights", fmt::format("{}", w.size()), "2");
  TRY(weights(1, 2, 0, w[0]));
  TRY(bias(2, w[0]));
  const i64 elements = type(0).elements();
  if (elements % w[1] != 0) return wrong("elements of the operand", fmt::format("{}", elements), fmt::format("a multiple of {}", w[1]));
  if (y().rank() < 1 || y().shape.back() != w[0] || y().elements() != elements / w[1] * w[0])
    return wrong("shape of the result", to_text(y().shape), fmt::format("{} rows of {}", elements / w[1], w[0]));
  Step s;
  TRY(activation(p->fused_activation_function(), &s));
  return push(FullyConnected{}, {in_[0], in_[1], has(2) ? in_[2] : kNoTensor}, s);
}

Fault Importer::batch_matmul(const tflite::Operator& o) {
  const auto* p = o.builtin_options_as_BatchMatMulOptions();
  if (!p) return wrong("no options");
  TRY(int8(0));
  TRY(int8(1));
  TRY(int8_result());
  const Shape &a = type(0).shape, &b = type(1).shape;
  if (a.size() < 2 || b.size() < 2) return wrong("ranks", fmt::format("{}, {}", a.size(), b.size()), "at least 2");
  const auto end = [](const Shape& s, size_t back) { return s[s.size() - back]; };
  const i64 m = end(a, p->adj_x() ? 1 : 2), k = end(a, p->adj_x() ? 2 : 1);
  const i64 k2 = end(b, p->adj_y() ? 1 : 2), n = end(b, p->adj_y() ? 2 : 1);
  if (k != k2) return wrong("inner extents", fmt::format("{}", k2), fmt::format("{}", k));
  Shape expected(std::max(a.size(), b.size()), 1);
  for (size_t i = 0; i + 2 < expected.size(); ++i) {
    const size_t back = expected.size() - i;
    const i64 ea = back <= a.size() ? end(a, back) : 1, eb = back <= b.size() ? end(b, back) : 1;
    if (ea != eb && ea != 1 && eb != 1) return wrong("batch extents", fmt::format("{}", eb), fmt::format("{}", ea));
    expected[i] = std::max(ea, eb);
  }
  expected[expected.size() - 2] = m;
  expected.back() = n;
  TRY(shape_of_y(expected));
  return push(BatchMatmul{p->adj_x(), p->adj_y()}, {in_[0], in_[1]});
}

template <bool kAverage>
Fault Importer::pool(const tflite::Operator& o) {
  const auto* p = o.builtin_options_as_Pool2DOptions();
  if (!p) return wrong("no options");
  TRY(int8(0));
  TRY(int8_result());
  TRY(same_quant(0));
  const Shape &x = type(0).shape, &r = y().shape;
  if (x.size() != 4 || r.size() != 4) return wrong("ranks of image and result", fmt::format("{}, {}", x.size(), r.size()), "4");
  TRY(image_result(x[0], x[3]));
  Window v{p->filter_height(), p->filter_width(), p->stride_h(), p->stride_w(), 1, 1};
  Step s;
  TRY(sliding(*p, x, r, &v, &s));
  return push(Pool{kAverage, false, v}, {in_[0]}, s);
}

Fault Importer::pair(PairFn fn, Step s) {
  TRY(int8(0));
  TRY(int8(1));
  TRY(int8_result());
  const Shape &a = type(0).shape, &b = type(1).shape;
  Shape expected(std::max(a.size(), b.size()), 1);
  for (size_t back = 1; back <= expected.size(); ++back) {
    const i64 ea = back <= a.size() ? a[a.size() - back] : 1, eb = back <= b.size() ? b[b.size() - back] : 1;
    if (ea != eb && ea != 1 && eb != 1) return wrong("extents of the operands", fmt::format("{}, {}", ea, eb), "equal, or 1");
    expected[expected.size() - back] = std::max(ea, eb);
  }
  TRY(shape_of_y(expected));
  return push(Pairwise{fn}, {in_[0], in_[1]}, s);
}

template <PairFn kFn, class Options>
Fault Importer::arithmetic(const tflite::Operator& o) {
  TRY(int8_result());
  Step s;
  if (const auto* p = o.builtin_options_as<Options>()) TRY(activation(p->fused_activation_function(), &s));
  return pair(kFn, s);
}

template <PairFn kFn>
Fault Importer::extreme(const tflite::Operator&) {
  for (size_t i : {0, 1}) {
    TRY(int8(i));
    TRY(int8_result());
    TRY(same_quant(i));
  }
  return pair(kFn, {});
}

Fault Importer::axes(size_t i, std::vector<bool>* flags) const {
  std::vector<i64> given;
  TRY(ints(i, &given));
  const i64 rank = type(0).rank();
  flags->assign(static_cast<size_t>(rank), false);
  for (const i64 a : given) {
    if (a < -rank || a >= rank) return wrong("axis", fmt::format("{}", a), fmt::format("below {}", rank));
    (*flags)[a < 0 ? a + rank : a] = true;
  }
  return std::nullopt;
}

template <ReduceFn kFn>
Fault Importer::reduce(const tflite::Operator& o) {
  const auto* p = o.builtin_options_as_ReducerOptions();
  TRY(int8(0));
  TRY(int8_result());
  if (kFn == ReduceFn::maximum || kFn == ReduceFn::minimum) TRY(same_quant(0));
  Reduce r{kFn, {}};
  TRY(axes(1, &r.axes));
  const bool keep = p && p->keep_dims();
  Shape expected;
  for (size_t i = 0; i < r.axes.size(); ++i) {
    if (!r.axes[i]) expected.push_back(type(0).shape[i]);
    else if (keep) expected.push_back(1);
  }
  TRY(shape_of_y(expected));
  return push(r, {in_[0]});
}

Fault Importer::softmax(const tflite::Operator& o) {
  const auto* p = o.builtin_options_as_SoftmaxOptions();
  if (!p) return wrong("no options");
  TRY(int8(0));
  TRY(int8_result());
  if (type(0).rank() < 1) return wrong("rank", "0", "at least 1");
  TRY(shape_of_y(type(0).shape));
  if (!std::isfinite(p->beta()) || p->beta() <= 0) return wrong("beta", fmt::format("{:g}", p->beta()), "positive");
  if (y().quant.scale[0] != 1.0f / 256 || y().quant.zero_point[0] != -128)
    return wrong("scale and zero point of the result", fmt::format("{:g}, {}", y().quant.scale[0], y().quant.zero_point[0]), "1/256, -128");
  return push(Softmax{p->beta()}, {in_[0]});
}

template <class F>
Fault Importer::function(F f) {
  TRY(int8(0));
  TRY(int8_result());
  TRY(shape_of_y(type(0).shape));
  const auto entries = table_of(type(0).quant, y().quant, f);
  Table t;
  std::copy(entries.begin(), entries.end(), t.entry.begin());
  return push(t, {in_[0]});
}

Fault Importer::leaky_relu(const tflite::Operator& o) {
  const auto* p = o.builtin_options_as_LeakyReluOptions();
  if (!p || !std::isfinite(p->alpha())) return wrong("no slope");
  return function([&](float x) { return evaluate(UnaryFn::leaky_relu, x, p->alpha()); });
}

Fault Importer::prelu(const tflite::Operator&) {
  TRY(int8(0));
  TRY(int8(1));
  TRY(int8_result());
  TRY(shape_of_y(type(0).shape));
  const Shape &x = type(0).shape, &a = type(1).shape;
  if (a.size() > x.size()) return wrong("rank of the slope", fmt::format("{}", a.size()), fmt::format("{}", x.size()));
  for (size_t back = 1; back <= a.size(); ++back)
    if (const i64 e = a[a.size() - back]; e != 1 && e != x[x.size() - back])
      return wrong("shape of the slope", to_text(a), fmt::format("one that broadcasts to {}", to_text(x)));
  return push(Prelu{}, {in_[0], in_[1]});
}

Fault Importer::paddings(Pad* p) {
  TRY(int8(0));
  TRY(int8_result());
  TRY(same_quant(0));
  std::vector<i64> given;
  TRY(ints(1, &given));
  const Shape& x = type(0).shape;
  if (type(1).shape != Shape{static_cast<i64>(x.size()), 2})
    return wrong("shape of the paddings", to_text(type(1).shape), fmt::format("{},2", x.size()));
  Shape expected = x;
  for (size_t i = 0; i < x.size(); ++i) {
    const i64 before = given[i * 2], after = given[i * 2 + 1];
    if (before < 0 || after < 0 || before > kMostExtent || after > kMostExtent)
      return wrong("padding", fmt::format("{}, {}", before, after), fmt::format("0..{}", kMostExtent));
    p->before.push_back(before);
    p->after.push_back(after);
    expected[i] += before + after;
  }
  return shape_of_y(expected);
}

template <bool kWithValue>
Fault Importer::pad(const tflite::Operator&) {
  Pad p;
  TRY(paddings(&p));
  p.value = y().quant.zero_point[0];
  if (kWithValue && has(2)) {
    TRY(int8(2));
    if (!model_.is_constant(in_[2]) || type(2).elements() != 1) return wrong("the padding's value must be one constant");
    p.value = static_cast<int8_t>(model_.tensors[in_[2]].constant->bytes[0]);
  }
  return push(p, {in_[0]});
}

Fault Importer::mirror_pad(const tflite::Operator& o) {
  const auto* m = o.builtin_options_as_MirrorPadOptions();
  if (!m) return wrong("no options");
  Pad p;
  if (m->mode() != tflite::MirrorPadMode::REFLECT && m->mode() != tflite::MirrorPadMode::SYMMETRIC)
    return wrong("unknown mode", fmt::format("{}", static_cast<int>(m->mode())), "REFLECT or SYMMETRIC");
  p.fn = m->mode() == tflite::MirrorPadMode::REFLECT ? PadFn::reflect : PadFn::symmetric;
  TRY(paddings(&p));
  for (size_t i = 0; i < p.before.size(); ++i)
    if (const i64 most = type(0).shape[i] - (p.fn == PadFn::reflect ? 1 : 0); p.before[i] > most || p.after[i] > most)
      return wrong("padding", fmt::format("{}, {}", p.before[i], p.after[i]), fmt::format("{}", most));
  return push(p, {in_[0]});
}

Fault Importer::concat(const tflite::Operator& o) {
  const auto* p = o.builtin_options_as_ConcatenationOptions();
  if (!p) return wrong("no options");
  TRY(int8_result());
  const i64 rank = y().rank();
  i64 axis = p->axis();
  if (axis < -rank || axis >= rank) return wrong("axis", fmt::format("{}", axis), fmt::format("below {}", rank));
  if (axis < 0) axis += rank;
  Shape expected = y().shape;
  expected[axis] = 0;
  for (size_t i = 0; i < operands(); ++i) {
    TRY(int8(i));
    TRY(same_quant(i));
    Shape part = type(i).shape;
    if (part.size() != expected.size()) return wrong("rank of a part", fmt::format("{}", part.size()), fmt::format("{}", rank));
    expected[axis] += part[axis];
    part[axis] = expected[axis];
    if (part != expected) return wrong("shape of a part", to_text(type(i).shape), to_text(y().shape));
  }
  TRY(shape_of_y(expected));
  Step s;
  TRY(activation(p->fused_activation_function(), &s));
  if (s.low != -128 || s.high != 127) return wrong("a fused activation is not supported here");
  return push(Concat{axis}, in_);
}

Fault Importer::slice(const tflite::Operator&) {
  TRY(int8(0));
  TRY(int8_result());
  TRY(same_quant(0));
  std::vector<i64> begin, size;
  TRY(ints(1, &begin));
  TRY(ints(2, &size));
  const Shape& x = type(0).shape;
  if (begin.size() != x.size() || size.size() != x.size())
    return wrong("entries of begin and size", fmt::format("{}, {}", begin.size(), size.size()), fmt::format("{}", x.size()));
  for (size_t i = 0; i < x.size(); ++i) {
    if (begin[i] < 0 || begin[i] >= x[i]) return wrong("begin", fmt::format("{}", begin[i]), fmt::format("below {}", x[i]));
    if (size[i] == -1) size[i] = x[i] - begin[i];
    if (size[i] < 1 || size[i] > x[i] - begin[i]) return wrong("size", fmt::format("{}", size[i]), fmt::format("1..{}", x[i] - begin[i]));
  }
  TRY(shape_of_y(size));
  return push(Slice{begin, Axes(x.size(), 1)}, {in_[0]});
}

Fault Importer::strided_slice(const tflite::Operator& o) {
  const auto* p = o.builtin_options_as_StridedSliceOptions();
  if (!p) return wrong("no options");
  TRY(int8(0));
  TRY(int8_result());
  TRY(same_quant(0));
  if (p->ellipsis_mask() || p->new_axis_mask() || p->offset()) return wrong("ellipsis, new axes and offsets are not supported");
  std::vector<i64> begin, end, stride;
  TRY(ints(1, &begin));
  TRY(ints(2, &end));
  TRY(ints(3, &stride));
  const Shape& x = type(0).shape;
  const size_t given = begin.size();
  if (given > x.size() || end.size() != given || stride.size() != given)
    return wrong("entries of begin, end and strides", fmt::format("{}, {}, {}", begin.size(), end.size(), stride.size()),
                 fmt::format("{}", x.size()));
  begin.resize(x.size(), 0);
  end = [&] {
    auto e = end;
    for (size_t i = given; i < x.size(); ++i) e.push_back(x[i]);
    return e;
  }();
  stride.resize(x.size(), 1);
  Shape whole, expected;
  for (size_t i = 0; i < x.size(); ++i) {
    const auto bit = [&](i32 mask) { return i < 31 && (mask >> i & 1) != 0; };
    if (stride[i] < 1) return wrong("stride", fmt::format("{}", stride[i]), "at least 1");
    const auto place = [&](i64 v) { return std::clamp<i64>(v < 0 ? v + x[i] : v, 0, x[i]); };
    begin[i] = bit(p->begin_mask()) ? 0 : place(begin[i]);
    end[i] = bit(p->end_mask()) ? x[i] : place(end[i]);
    const bool shrink = bit(p->shrink_axis_mask());
    if (shrink) end[i] = begin[i] + 1;
    if (end[i] <= begin[i] || end[i] > x[i])
      return wrong("begin and end", fmt::format("{}, {}", begin[i], end[i]), fmt::format("not empty, within {}", x[i]));
    whole.push_back((end[i] - begin[i] + stride[i] - 1) / stride[i]);
    if (!shrink) expected.push_back(whole.back());
  }
  TRY(shape_of_y(expected));
  if (whole == expected) return push(Slice{begin, stride}, {in_[0]});
  const TensorId result = out_;
  out_ = model_.add_tensor(model_.tensors[result].name + " before its axes are dropped", {DType::s8, whole, y().quant});
  const TensorId middle = out_;
  TRY(push(Slice{begin, stride}, {in_[0]}));
  out_ = result;
  return push(View{}, {middle});
}

Fault Importer::transpose(const tflite::Operator&) {
  TRY(int8(0));
  TRY(int8_result());
  TRY(same_quant(0));
  Transpose t;
  TRY(ints(1, &t.perm));
  const Shape& x = type(0).shape;
  std::vector<bool> seen(x.size());
  Shape expected;
  if (t.perm.size() != x.size()) return wrong("entries of the permutation", fmt::format("{}", t.perm.size()), fmt::format("{}", x.size()));
  for (i64& a : t.perm) {
    if (a < 0) a += static_cast<i64>(x.size());
    if (a < 0 || a >= static_cast<i64>(x.size()) || seen[a]) return wrong("not a permutation", to_text(t.perm), to_text(x));
    seen[a] = true;
    expected.push_back(x[a]);
  }
  TRY(shape_of_y(expected));
  return push(t, {in_[0]});
}

Fault Importer::view(const tflite::Operator&) {
  TRY(int8(0));
  TRY(int8_result());
  TRY(same_quant(0));
  if (type(0).elements() != y().elements())
    return wrong("elements of the result", fmt::format("{}", y().elements()), fmt::format("{}", type(0).elements()));
  return push(View{}, {in_[0]});
}

template <bool kBilinear, class Options>
Fault Importer::resize(const tflite::Operator& o) {
  const auto* p = o.builtin_options_as<Options>();
  if (!p) return wrong("no options");
  TRY(int8(0));
  TRY(int8_result());
  TRY(same_quant(0));
  std::vector<i64> size;
  TRY(ints(1, &size));
  const Shape& x = type(0).shape;
  if (x.size() != 4 || size.size() != 2) return wrong("ranks", fmt::format("{}, {}", x.size(), size.size()), "4, 2");
  TRY(shape_of_y({x[0], size[0], size[1], x[3]}));
  if (p->align_corners() && p->half_pixel_centers()) return wrong("align_corners and half_pixel_centers exclude each other");
  return push(Resize{kBilinear, p->align_corners(), p->half_pixel_centers()}, {in_[0]});
}

using B = tflite::BuiltinOperator;
const Importer::Row Importer::kImports[] = {
    {B::CONV_2D, "conv_2d", 2, 3, &Importer::convolution},
    {B::DEPTHWISE_CONV_2D, "depthwise_conv_2d", 2, 3, &Importer::depthwise},
    {B::TRANSPOSE_CONV, "transpose_conv", 3, 4, &Importer::transposed},
    {B::FULLY_CONNECTED, "fully_connected", 2, 3, &Importer::fully_connected},
    {B::BATCH_MATMUL, "batch_matmul", 2, 2, &Importer::batch_matmul},
    {B::AVERAGE_POOL_2D, "average_pool_2d", 1, 1, &Importer::pool<true>},
    {B::MAX_POOL_2D, "max_pool_2d", 1, 1, &Importer::pool<false>},
    {B::ADD, "add", 2, 2, &Importer::arithmetic<PairFn::add, tflite::AddOptions>},
    {B::SUB, "sub", 2, 2, &Importer::arithmetic<PairFn::sub, tflite::SubOptions>},
    {B::MUL, "mul", 2, 2, &Importer::arithmetic<PairFn::mul, tflite::MulOptions>},
    {B::MAXIMUM, "maximum", 2, 2, &Importer::extreme<PairFn::maximum>},
    {B::MINIMUM, "minimum", 2, 2, &Importer::extreme<PairFn::minimum>},
    {B::MEAN, "mean", 2, 2, &Importer::reduce<ReduceFn::mean>},
    {B::SUM, "sum", 2, 2, &Importer::reduce<ReduceFn::sum>},
    {B::REDUCE_MAX, "reduce_max", 2, 2, &Importer::reduce<ReduceFn::maximum>},
    {B::REDUCE_MIN, "reduce_min", 2, 2, &Importer::reduce<ReduceFn::minimum>},
    {B::SOFTMAX, "softmax", 1, 1, &Importer::softmax},
    {B::LOGISTIC, "logistic", 1, 1, &Importer::unary<UnaryFn::sigmoid>},
    {B::TANH, "tanh", 1, 1, &Importer::unary<UnaryFn::tanh>},
    {B::HARD_SWISH, "hard_swish", 1, 1, &Importer::unary<UnaryFn::hardswish>},
    {B::ABS, "abs", 1, 1, &Importer::unary<UnaryFn::abs>},
    {B::NEG, "neg", 1, 1, &Importer::unary<UnaryFn::neg>},
    {B::EXP, "exp", 1, 1, &Importer::unary<UnaryFn::exp>},
    {B::LOG, "log", 1, 1, &Importer::unary<UnaryFn::log>},
    {B::SQRT, "sqrt", 1, 1, &Importer::unary<UnaryFn::sqrt>},
    {B::RSQRT, "rsqrt", 1, 1, &Importer::unary<UnaryFn::rsqrt>},
    {B::QUANTIZE, "quantize", 1, 1, &Importer::unary<UnaryFn::identity>},
    {B::RELU, "relu", 1, 1, &Importer::bounded<0, 0>},
    {B::RELU6, "relu6", 1, 1, &Importer::bounded<0, 6>},
    {B::RELU_N1_TO_1, "relu_n1_to_1", 1, 1, &Importer::bounded<-1, 1>},
    {B::RELU_0_TO_1, "relu_0_to_1", 1, 1, &Importer::bounded<0, 1>},
    {B::LEAKY_RELU, "leaky_relu", 1, 1, &Importer::leaky_relu},
    {B::PRELU, "prelu", 2, 2, &Importer::prelu},
    {B::PAD, "pad", 2, 2, &Importer::pad<false>},
    {B::PADV2, "padv2", 3, 3, &Importer::pad<true>},
    {B::MIRROR_PAD, "mirror_pad", 2, 2, &Importer::mirror_pad},
    {B::CONCATENATION, "concatenation", 1, 4096, &Importer::concat},
    {B::SLICE, "slice", 3, 3, &Importer::slice},
    {B::STRIDED_SLICE, "strided_slice", 4, 4, &Importer::strided_slice},
    {B::TRANSPOSE, "transpose", 2, 2, &Importer::transpose},
    {B::RESHAPE, "reshape", 1, 2, &Importer::view},
    {B::SQUEEZE, "squeeze", 1, 1, &Importer::view},
    {B::EXPAND_DIMS, "expand_dims", 2, 2, &Importer::view},
    {B::RESIZE_NEAREST_NEIGHBOR, "resize_nearest_neighbor", 2, 2, &Importer::resize<false, tflite::ResizeNearestNeighborOptions>},
    {B::RESIZE_BILINEAR, "resize_bilinear", 2, 2, &Importer::resize<true, tflite::ResizeBilinearOptions>},
};

#undef TRY

Fault Importer::op(const tflite::Operator& o, i32 index, i32 builtin) {
  rule_ = "operator";
  index_ = index;
  const auto ins = ints_of(o.inputs()), outs = ints_of(o.outputs());
  in_.assign(ins.begin(), ins.end());
  const auto row =
      std::find_if(std::begin(kImports), std::end(kImports), [&](const Row& r) { return static_cast<i32>(r.code) == builtin; });
  if (row == std::end(kImports)) return wrong("the NPU has no kernel for this operator");
  rule_ = row->rule;
  if (in_.size() < row->fewest || in_.size() > row->most)
    return wrong("operands", fmt::format("{}", in_.size()), fmt::format("{}..{}", row->fewest, row->most));
  if (outs.size() != 1) return wrong("results", fmt::format("{}", outs.size()), "1");
  out_ = outs[0];
  const bool bias_last = row->import == &Importer::convolution || row->import == &Importer::depthwise ||
                         row->import == &Importer::transposed || row->import == &Importer::fully_connected;
  for (size_t i = 0; i < in_.size(); ++i)
    if (in_[i] == kNoTensor && !(bias_last && i + 1 == row->most)) return wrong(fmt::format("operand {} is left out", i));
  return (this->*row->import)(o);
}

}  // namespace deuteron::neutron

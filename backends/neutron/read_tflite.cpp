// See read_tflite.h. Tensors first, then a row of the table `kImports` for each operator.
#include "backends/neutron/read_tflite.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>

#include "backends/neutron/tflite_bytes.h"
#include "ops/op.h"
#include "ops/unary/table.h"
#include "ops/unary/unary.h"

namespace deuteron::neutron {
namespace {

using Fault = std::optional<Refusal>;
constexpr i64 kMostBytes = std::numeric_limits<i32>::max() / 4;  // of a tensor: offsets and bit counts stay within int32
constexpr int kMostTensorRank = 8;
constexpr i64 kMostExtent = 1 << 24;

std::optional<DType> dtype_of(tflite::TensorType t) {
  switch (t) {
    case tflite::TensorType::INT8:
      return DType::s8;
    case tflite::TensorType::INT32:
      return DType::s32;
    case tflite::TensorType::INT64:
      return DType::s64;
    case tflite::TensorType::FLOAT32:
      return DType::f32;
    case tflite::TensorType::UINT8:
      return DType::u8;
    case tflite::TensorType::INT16:
      return DType::s16;
    default:
      return std::nullopt;
  }
}

// Of an operator being imported.
class Importer {
 public:
  Importer(const tflite::Model& file, Model& model) : file_(file), model_(model) {}

  Fault tensor(const tflite::Tensor& t);
  Fault op(const tflite::Operator& o, i32 index, i32 builtin);

 private:
  // What the rows of the table take.
  struct Row;
  static const Row kImports[];

  Fault wrong(std::string what, std::string measured = {}, std::string limit = {}) const {
    return Refusal{std::move(what), std::move(measured), std::move(limit), fmt::format("neutron.ir.{}", rule_)};
  }
  size_t operands() const { return in_.size(); }
  bool has(size_t i) const { return i < in_.size() && in_[i] != kNoTensor; }
  const Type& type(size_t i) const { return model_.type(in_[i]); }
  const Type& y() const { return model_.type(out_); }

  Fault int8(size_t i) const;
  Fault int8_result() const;
  Fault same_quant(size_t i) const;
  Fault shape_of_y(const Shape& expected) const;
  Fault ints(size_t i, std::vector<i64>* values) const;
  Fault weights(size_t i, i64 rank, i32 axis, i64 channels) const;
  Fault bias(size_t i, i64 channels) const;
  Fault activation(tflite::ActivationFunctionType a, Step* s) const;
  Fault window(tflite::Padding padding, i64 extent, i64 out, i64 kernel, i64 stride, i64 dilation, const char* side, i64* before,
               i64* after) const;
  Fault axes(size_t i, std::vector<bool>* flags) const;
  Fault convolved(size_t image, i32 axis, size_t bias_at) const;
  Fault image_result(i64 images, i64 channels) const;
  template <class Options>
  Fault sliding(const Options& p, const Shape& from, const Shape& to, Window* v, Step* s) const;

  Fault convolution(const tflite::Operator& o);
  Fault depthwise(const tflite::Operator& o);
  Fault transposed(const tflite::Operator& o);
  Fault fully_connected(const tflite::Operator& o);
  Fault batch_matmul(const tflite::Operator& o);
  template <bool kAverage>
  Fault pool(const tflite::Operator& o);
  template <PairFn kFn, class Options>
  Fault arithmetic(const tflite::Operator& o);
  template <PairFn kFn>
  Fault extreme(const tflite::Operator& o);
  Fault pair(PairFn fn, Step s);
  template <ReduceFn kFn>
  Fault reduce(const tflite::Operator& o);
  Fault softmax(const tflite::Operator& o);
  template <UnaryFn kFn>
  Fault unary(const tflite::Operator&) {
    return function([](float x) { return evaluate(kFn, x, 0); });
  }
  template <int kLow, int kHigh>  // kHigh 0: no upper bound
  Fault bounded(const tflite::Operator&) {
    const auto from = static_cast<float>(kLow), to = kHigh == 0 ? std::numeric_limits<float>::infinity() : static_cast<float>(kHigh);
    return function([=](float x) { return std::min(std::max(x, from), to); });
  }
  Fault leaky_relu(const tflite::Operator& o);
  template <class F>
  Fault function(F f);
  Fault prelu(const tflite::Operator&);
  template <bool kWithValue>
  Fault pad(const tflite::Operator&);
  Fault mirror_pad(const tflite::Operator& o);
  Fault paddings(Pad* p);
  Fault concat(const tflite::Operator& o);
  Fault slice(const tflite::Operator&);
  Fault strided_slice(const tflite::Operator& o);
  Fault transpose(const tflite::Operator&);
  Fault view(const tflite::Operator&);
  template <bool kBilinear, class Options>
  Fault resize(const tflite::Operator& o);

  Fault push(Action a, std::vector<TensorId> inputs, Step s = {}) {
    s.action = std::move(a);
    s.inputs = std::move(inputs);
    s.output = out_;
    s.y = y().quant;
    s.origins = {index_};
    model_.steps.push_back(std::move(s));
    return std::nullopt;
  }

  const tflite::Model& file_;
  Model& model_;
  std::vector<TensorId> in_;
  TensorId out_ = kNoTensor;
  i32 index_ = 0;
  std::string rule_;
};

struct Importer::Row {
  tflite::BuiltinOperator code;
  const char* rule;
  size_t fewest, most;  // operands
  Fault (Importer::*import)(const tflite::Operator&);
};

Fault Importer::tensor(const tflite::Tensor& t) {
  rule_ = "tensor";
  Tensor r;
  r.name = t.name() ? t.name()->str() : fmt::format("tensor {}", model_.tensors.size());
  const auto dtype = dtype_of(t.type());
  if (!dtype) return wrong("unknown type of element", fmt::format("{}", static_cast<int>(t.type())), "int8, int32 and others");
  r.type.dtype = *dtype;
  if (t.is_variable() || t.sparsity()) return wrong("variables and sparse tensors are not supported");
  const auto shape = ints_of(t.shape());
  if (shape.size() > kMostTensorRank) return wrong("rank", fmt::format("{}", shape.size()), fmt::format("{}", kMostTensorRank));
  i64 bytes = bytes_of(*dtype);
  for (const i32 extent : shape) {
    if (extent < 1 || extent > kMostExtent) return wrong("extent of an axis", fmt::format("{}", extent), fmt::format("1..{}", kMostExtent));
    bytes *= extent;
    if (bytes > kMostBytes) return wrong("bytes of a tensor", fmt::format("{}", bytes), fmt::format("{}", kMostBytes));
    r.type.shape.push_back(extent);
  }
  for (const i32 extent : ints_of(t.shape_signature()))
    if (extent < 0) return wrong("shapes that are only known at run time are not supported");
  if (const auto* q = t.quantization(); q && q->scale() && q->scale()->size() > 0) {
    const flatbuffers::uoffset_t n = q->scale()->size();
    if (q->details()) return wrong("custom quantization is not supported");
    if (!q->zero_point() || q->zero_point()->size() != n) return wrong("scales and zero points differ in number", fmt::format("{}", n));
    const i32 axis = q->quantized_dimension();
    if (n > 1) {
      if (axis < 0 || axis >= r.type.rank() || r.type.shape[axis] != static_cast<i64>(n))
        return wrong("number of scales", fmt::format("{}", n), "the extent of the quantized dimension");
      r.type.quant.axis = axis;
    }
    for (flatbuffers::uoffset_t i = 0; i < n; ++i) {
      const float scale = q->scale()->Get(i);
      int64_t zero = 0;  // not read in place: the verifier does not look at the alignment of elements
      std::memcpy(&zero, q->zero_point()->Data() + i * sizeof zero, sizeof zero);
      if (!std::isfinite(scale) || scale < std::numeric_limits<float>::min())
        return wrong("scale", fmt::format("{:g}", scale), "positive and finite");
      const bool fits = *dtype == DType::s8 ? zero >= -128 && zero <= 127
                                            : zero >= std::numeric_limits<i32>::min() && zero <= std::numeric_limits<i32>::max();
      if (!fits) return wrong("zero point", fmt::format("{}", zero), "in the range of the type");
      r.type.quant.scale.push_back(scale);
      r.type.quant.zero_point.push_back(static_cast<i32>(zero));
    }
  }
  if (const auto data = buffer_of(file_, t); !data.empty()) {
    if (static_cast<i64>(data.size()) != bytes)
      return wrong("bytes of a constant", fmt::format("{}", data.size()), fmt::format("{}", bytes));
    r.constant = Constant{nullptr, std::as_bytes(data)};
  }
  model_.tensors.push_back(std::move(r));
  return std::nullopt;
}

Fault Importer::int8(size_t i) const {
  const Type& t = type(i);
  if (t.dtype != DType::s8) return wrong(fmt::format("type of operand {}", i), std::string(name_of(t.dtype)), "s8");
  if (t.quant.empty()) return wrong(fmt::format("operand {} has no scale", i));
  if (t.quant.per_channel()) return wrong(fmt::format("operand {} has several scales", i), fmt::format("{}", t.quant.scale.size()), "1");
  return std::nullopt;
}

Fault Importer::int8_result() const {
  if (y().dtype != DType::s8) return wrong("type of the result", std::string(name_of(y().dtype)), "s8");
  if (y().quant.scale.size() != 1) return wrong("number of scales of the result", fmt::format("{}", y().quant.scale.size()), "1");
  return std::nullopt;
}

Fault Importer::same_quant(size_t i) const {
  const Quant &a = type(i).quant, &b = y().quant;
  if (a.scale[0] == b.scale[0] && a.zero_point[0] == b.zero_point[0]) return std::nullopt;
  return wrong(fmt::format("operand {} and result must have the same scale and zero point", i),
               fmt::format("{:g}, {}", a.scale[0], a.zero_point[0]), fmt::format("{:g}, {}", b.scale[0], b.zero_point[0]));
}

Fault Importer::shape_of_y(const Shape& expected) const {
  if (y().shape == expected) return std::nullopt;
  return wrong("shape of the result", to_text(y().shape), to_text(expected));
}

// The integers of a constant operand.
Fault Importer::ints(size_t i, std::vector<i64>* values) const {
  if (!has(i) || !model_.is_constant(in_[i])) return wrong(fmt::format("operand {} must be constant", i));
  const Type& t = type(i);
  const auto bytes = model_.tensors[in_[i]].constant->bytes;
  const auto n = static_cast<size_t>(t.elements());
  values->resize(n);
  if (t.dtype == DType::s64) {
    std::memcpy(values->data(), bytes.data(), n * 8);
    return std::nullopt;
  }
  if (t.dtype != DType::s32) return wrong(fmt::format("type of operand {}", i), std::string(name_of(t.dtype)), "s32 or s64");
  for (size_t k = 0; k < n; ++k) {
    i32 v;
    std::memcpy(&v, bytes.data() + k * 4, 4);
    (*values)[k] = v;
  }
  return std::nullopt;
}

Fault Importer::weights(size_t i, i64 rank, i32 axis, i64 channels) const {
  const Type& t = type(i);
  if (!model_.is_constant(in_[i])) return wrong("the weights must be constant");
  if (t.dtype != DType::s8) return wrong("type of the weights", std::string(name_of(t.dtype)), "s8");
  if (t.rank() != rank) return wrong("rank of the weights", fmt::format("{}", t.rank()), fmt::format("{}", rank));
  if (t.quant.empty()) return wrong("the weights have no scale");
  if (t.quant.per_channel() && (t.quant.axis != axis || static_cast<i64>(t.quant.scale.size()) != channels))
    return wrong("scales of the weights lie along axis", fmt::format("{}", t.quant.axis), fmt::format("{}", axis));
  for (const i32 zero : t.quant.zero_point)
    if (zero != 0) return wrong("zero point of the weights", fmt::format("{}", zero), "0");
  return std::nullopt;
}

Fault Importer::bias(size_t i, i64 channels) const {
  if (!has(i)) return std::nullopt;
  const Type& t = type(i);
  if (!model_.is_constant(in_[i])) return wrong("the bias must be constant");
  if (t.dtype != DType::s32) return wrong("type of the bias", std::string(name_of(t.dtype)), "s32");
  if (t.elements() != channels) return wrong("elements of the bias", fmt::format("{}", t.elements()), fmt::format("{}", channels));
  return std::nullopt;
}

// A fused activation, as TFLite's kernels read it: bounds of the result in its own steps.
Fault Importer::activation(tflite::ActivationFunctionType a, Step* s) const {
  using A = tflite::ActivationFunctionType;
  const float scale = y().quant.scale[0];
  const i32 zero = y().quant.zero_point[0];
  const auto steps = [&](float v) {
    return static_cast<i32>(std::clamp<double>(zero + static_cast<double>(std::round(v / scale)), -128, 127));
  };
  switch (a) {
    case A::NONE:
      break;
    case A::RELU:
      s->low = steps(0);
      break;
    case A::RELU6:
      s->low = steps(0), s->high = steps(6);
      break;
    case A::RELU_N1_TO_1:
      s->low = steps(-1), s->high = steps(1);
      break;
    default:
      return wrong("unknown fused activation", fmt::format("{}", static_cast<int>(a)), "NONE, RELU, RELU6 or RELU_N1_TO_1");
  }
  return std::nullopt;
}

Fault Importer::window(tflite::Padding padding, i64 extent, i64 out, i64 kernel, i64 stride, i64 dilation, const char* side, i64* before,
                       i64* after) const {
  if (stride < 1 || dilation < 1 || kernel < 1)
    return wrong(fmt::format("{}: kernel, stride and dilation", side), fmt::format("{}, {}, {}", kernel, stride, dilation), "at least 1");
  const i64 span = (kernel - 1) * dilation + 1;
  i64 expected = 0;
  if (padding == tflite::Padding::SAME) {
    expected = (extent + stride - 1) / stride;
    const i64 total = std::max<i64>(0, (expected - 1) * stride + span - extent);
    *before = total / 2;
    *after = total - *before;
  } else if (padding == tflite::Padding::VALID) {
    if (span > extent) return wrong(fmt::format("{}: extent of the window", side), fmt::format("{}", span), fmt::format("{}", extent));
    expected = (extent - span) / stride + 1;
    *before = *after = 0;
  } else {
    return wrong("unknown padding", fmt::format("{}", static_cast<int>(padding)), "SAME or VALID");
  }
  if (out != expected) return wrong(fmt::format("{} of the result", side), fmt::format("{}", out), fmt::format("{}", expected));
  return std::nullopt;
}

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

}  // namespace

std::optional<Model> read_tflite(std::span<const u8> bytes, Diagnostics& diagnostics) {
  const std::string kWhere = "Neutron IR";
  const tflite::Model* file = open_tflite(bytes, kWhere, diagnostics);
  if (!file) return std::nullopt;
  const tflite::SubGraph& g = *file->subgraphs()->Get(0);
  Model model;
  Importer importer(*file, model);
  bool good = true;
  const auto report = [&](const std::string& where, const Refusal& r) {
    diagnostics.add({Severity::error, fmt::format("{}: {}", kWhere, where), r.what, r.measured, r.limit, r.rule, {}});
    good = false;
  };
  for (const tflite::Tensor* t : *g.tensors())
    if (auto fault = importer.tensor(*t)) {
      report(fmt::format("tensor `{}`", t->name() ? t->name()->string_view() : ""), *fault);
      return std::nullopt;
    }
  for (const i32 t : ints_of(g.inputs())) model.inputs.push_back(t);
  for (const i32 t : ints_of(g.outputs())) model.outputs.push_back(t);

  // Made: constants, inputs, and results as the operators come.
  std::vector<bool> made(model.tensors.size());
  for (size_t i = 0; i < made.size(); ++i) made[i] = model.tensors[i].constant.has_value();
  for (const TensorId t : model.inputs) {
    if (made[t])
      report(fmt::format("input `{}`", model.tensors[t].name), {"an input that is constant or given twice", {}, {}, "neutron.ir.input"});
    if (model.type(t).dtype != DType::s8)
      report(fmt::format("input `{}`", model.tensors[t].name),
             {"type of an input", std::string(name_of(model.type(t).dtype)), "s8", "neutron.ir.input"});
    made[t] = true;
  }
  i32 index = 0;
  for (const tflite::Operator* o : *g.operators()) {
    const OperatorCode code = *code_of(*file, *o);
    model.op_names.push_back(name_of_builtin(code.builtin));
    const auto outs = ints_of(o->outputs());
    const std::string where =
        fmt::format("{} `{}` (operator {})", model.op_names.back(), outs.empty() ? "" : model.tensors[outs[0]].name, index);
    std::optional<Refusal> fault;
    for (const i32 t : ints_of(o->inputs()))
      if (t >= 0 && !made[t])
        fault = Refusal{fmt::format("reads `{}` before it is made", model.tensors[t].name), {}, {}, "neutron.ir.order"};
    for (const i32 t : outs) {
      if (made[t]) fault = Refusal{fmt::format("makes `{}`, which is there already", model.tensors[t].name), {}, {}, "neutron.ir.order"};
      made[t] = true;
    }
    if (!fault) fault = importer.op(*o, index, code.builtin);
    if (fault) report(where, *fault);
    made.resize(model.tensors.size(), true);
    ++index;
  }
  for (const TensorId t : model.outputs) {
    if (!made[t])
      report(fmt::format("output `{}`", model.tensors[t].name), {"an output that no operator makes", {}, {}, "neutron.ir.output"});
    if (model.type(t).dtype != DType::s8)
      report(fmt::format("output `{}`", model.tensors[t].name),
             {"type of an output", std::string(name_of(model.type(t).dtype)), "s8", "neutron.ir.output"});
  }
  if (!good) return std::nullopt;
  return model;
}

}  // namespace deuteron::neutron

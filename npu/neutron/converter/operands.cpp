// SPDX-License-Identifier: Apache-2.0
// Tensors, and what operators demand of their operands.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "npu/neutron/converter/operator_reader.h"
#include "ops/common/bounds.h"

namespace deuteron::neutron {
namespace {

// of a tensor: offsets and bit counts stay within int32
constexpr i64 kMostTensorBytes = std::numeric_limits<i32>::max() / 4;
constexpr int kMostTensorRank = 8;

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

}  // namespace

// Of a type whose dtype and shape are read.
Fault OperatorReader::quantization(const tflite::Tensor& t, Type* type) const {
  const auto* q = t.quantization();
  if (!q || !q->scale() || q->scale()->size() == 0) return std::nullopt;
  const flatbuffers::uoffset_t n = q->scale()->size();
  if (q->details()) return wrong("custom quantization is not supported");
  if (!q->zero_point() || q->zero_point()->size() != n)
    return wrong("scales and zero points differ in number", fmt::format("{}", n));
  const i32 axis = q->quantized_dimension();
  if (n > 1) {
    if (axis < 0 || axis >= type->rank() || type->shape[axis] != static_cast<i64>(n))
      return wrong("number of scales", fmt::format("{}", n),
                   "the extent of the quantized dimension");
    type->quant.axis = axis;
  }
  const auto [low, high] =
      type->dtype == DType::s8
          ? std::pair<i64, i64>(-128, 127)
          : std::pair<i64, i64>(std::numeric_limits<i32>::min(), std::numeric_limits<i32>::max());
  for (flatbuffers::uoffset_t i = 0; i < n; ++i) {
    const float scale = q->scale()->Get(i);
    int64_t zero = 0;  // not read in place: the verifier does not look at the alignment of elements
    std::memcpy(&zero, q->zero_point()->Data() + i * sizeof zero, sizeof zero);
    if (!std::isfinite(scale) || scale < std::numeric_limits<float>::min())
      return wrong("scale", fmt::format("{:g}", scale), "positive and finite");
    if (zero < low || zero > high)
      return wrong("zero point", fmt::format("{}", zero), "in the range of the type");
    type->quant.scale.push_back(scale);
    type->quant.zero_point.push_back(static_cast<i32>(zero));
  }
  return std::nullopt;
}

Fault OperatorReader::tensor(const tflite::Tensor& t) {
  rule_ = "tensor";
  Tensor r;
  r.name = t.name() ? t.name()->str() : fmt::format("tensor {}", model_.tensors.size());
  const auto dtype = dtype_of(t.type());
  if (!dtype)
    return wrong("unknown type of element", fmt::format("{}", static_cast<int>(t.type())),
                 "int8, int32 and others");
  r.type.dtype = *dtype;
  if (t.is_variable() || t.sparsity())
    return wrong("variables and sparse tensors are not supported");
  const auto shape = tflite::ints_of(t.shape());
  if (shape.size() > kMostTensorRank)
    return wrong("rank", fmt::format("{}", shape.size()), fmt::format("{}", kMostTensorRank));
  i64 bytes = bytes_of(*dtype);
  for (const i32 extent : shape) {
    if (extent < 1 || extent > kMostExtent)
      return wrong("extent of an axis", fmt::format("{}", extent),
                   fmt::format("1..{}", kMostExtent));
    bytes *= extent;
    if (bytes > kMostTensorBytes)
      return wrong("bytes of a tensor", fmt::format("{}", bytes),
                   fmt::format("{}", kMostTensorBytes));
    r.type.shape.push_back(extent);
  }
  for (const i32 extent : tflite::ints_of(t.shape_signature()))
    if (extent < 0) return wrong("shapes that are only known at run time are not supported");
  DEUTERON_TRY(quantization(t, &r.type));
  if (const auto data = tflite::buffer_of(file_, t); !data.empty()) {
    if (static_cast<i64>(data.size()) != bytes)
      return wrong("bytes of a constant", fmt::format("{}", data.size()), fmt::format("{}", bytes));
    r.constant = Constant{nullptr, std::as_bytes(data)};
  }
  model_.tensors.push_back(std::move(r));
  return std::nullopt;
}

Fault OperatorReader::int8(size_t i) const {
  const Type& t = type(i);
  if (t.dtype != DType::s8)
    return wrong(fmt::format("type of operand {}", i), std::string(name_of(t.dtype)), "s8");
  if (t.quant.empty()) return wrong(fmt::format("operand {} has no scale", i));
  if (t.quant.per_channel())
    return wrong(fmt::format("operand {} has several scales", i),
                 fmt::format("{}", t.quant.scale.size()), "1");
  return std::nullopt;
}

Fault OperatorReader::int8_result() const {
  if (y().dtype != DType::s8)
    return wrong("type of the result", std::string(name_of(y().dtype)), "s8");
  if (y().quant.scale.size() != 1)
    return wrong("number of scales of the result", fmt::format("{}", y().quant.scale.size()), "1");
  return std::nullopt;
}

Fault OperatorReader::same_quant(size_t i) const {
  const Quant &a = type(i).quant, &b = y().quant;
  if (a.scale[0] == b.scale[0] && a.zero_point[0] == b.zero_point[0]) return std::nullopt;
  return wrong(fmt::format("operand {} and result must have the same scale and zero point", i),
               fmt::format("{:g}, {}", a.scale[0], a.zero_point[0]),
               fmt::format("{:g}, {}", b.scale[0], b.zero_point[0]));
}

Fault OperatorReader::shape_of_y(const Shape& expected) const {
  if (y().shape == expected) return std::nullopt;
  return wrong("shape of the result", to_text(y().shape), to_text(expected));
}

// The integers of a constant operand.
Fault OperatorReader::ints(size_t i, std::vector<i64>* values) const {
  if (!has(i) || !model_.is_constant(in_[i]))
    return wrong(fmt::format("operand {} must be constant", i));
  const Type& t = type(i);
  const auto bytes = model_.tensors[in_[i]].constant->bytes;
  const auto n = static_cast<size_t>(t.elements());
  values->resize(n);
  if (t.dtype == DType::s64) {
    std::memcpy(values->data(), bytes.data(), n * 8);
    return std::nullopt;
  }
  if (t.dtype != DType::s32)
    return wrong(fmt::format("type of operand {}", i), std::string(name_of(t.dtype)), "s32 or s64");
  for (size_t k = 0; k < n; ++k) {
    i32 v;
    std::memcpy(&v, bytes.data() + k * 4, 4);
    (*values)[k] = v;
  }
  return std::nullopt;
}

Fault OperatorReader::weights(size_t i, i64 rank, i32 axis, i64 channels) const {
  const Type& t = type(i);
  if (!model_.is_constant(in_[i])) return wrong("the weights must be constant");
  if (t.dtype != DType::s8)
    return wrong("type of the weights", std::string(name_of(t.dtype)), "s8");
  if (t.rank() != rank)
    return wrong("rank of the weights", fmt::format("{}", t.rank()), fmt::format("{}", rank));
  if (t.quant.empty()) return wrong("the weights have no scale");
  if (t.quant.per_channel() &&
      (t.quant.axis != axis || static_cast<i64>(t.quant.scale.size()) != channels))
    return wrong("scales of the weights lie along axis", fmt::format("{}", t.quant.axis),
                 fmt::format("{}", axis));
  for (const i32 zero : t.quant.zero_point)
    if (zero != 0) return wrong("zero point of the weights", fmt::format("{}", zero), "0");
  return std::nullopt;
}

Fault OperatorReader::bias(size_t i, i64 channels) const {
  if (!has(i)) return std::nullopt;
  const Type& t = type(i);
  if (!model_.is_constant(in_[i])) return wrong("the bias must be constant");
  if (t.dtype != DType::s32) return wrong("type of the bias", std::string(name_of(t.dtype)), "s32");
  if (t.elements() != channels)
    return wrong("elements of the bias", fmt::format("{}", t.elements()),
                 fmt::format("{}", channels));
  return std::nullopt;
}

// A fused activation, as TFLite's kernels read it: bounds of the result in its own steps.
Fault OperatorReader::activation(tflite::ActivationFunctionType a, Operation* s) const {
  using A = tflite::ActivationFunctionType;
  const auto steps = [&](float bound) { return bound_step(bound, y().quant, Rounding::tflite); };
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
      return wrong("unknown fused activation", fmt::format("{}", static_cast<int>(a)),
                   "NONE, RELU, RELU6 or RELU_N1_TO_1");
  }
  return std::nullopt;
}

Fault OperatorReader::window(tflite::Padding padding, i64 extent, i64 out, i64 kernel, i64 stride,
                             i64 dilation, const char* side, i64* before, i64* after) const {
  if (stride < 1 || dilation < 1 || kernel < 1)
    return wrong(fmt::format("{}: kernel, stride and dilation", side),
                 fmt::format("{}, {}, {}", kernel, stride, dilation), "at least 1");
  const i64 span = (kernel - 1) * dilation + 1;
  i64 expected = 0;
  if (padding == tflite::Padding::SAME) {
    expected = (extent + stride - 1) / stride;
    const i64 total = std::max<i64>(0, (expected - 1) * stride + span - extent);
    *before = total / 2;
    *after = total - *before;
  } else if (padding == tflite::Padding::VALID) {
    if (span > extent)
      return wrong(fmt::format("{}: extent of the window", side), fmt::format("{}", span),
                   fmt::format("{}", extent));
    expected = (extent - span) / stride + 1;
    *before = *after = 0;
  } else {
    return wrong("unknown padding", fmt::format("{}", static_cast<int>(padding)), "SAME or VALID");
  }
  if (out != expected)
    return wrong(fmt::format("{} of the result", side), fmt::format("{}", out),
                 fmt::format("{}", expected));
  return std::nullopt;
}

Fault OperatorReader::axes(size_t i, std::vector<bool>* flags) const {
  std::vector<i64> given;
  DEUTERON_TRY(ints(i, &given));
  const i64 rank = type(0).rank();
  flags->assign(static_cast<size_t>(rank), false);
  for (const i64 a : given) {
    if (a < -rank || a >= rank)
      return wrong("axis", fmt::format("{}", a), fmt::format("below {}", rank));
    (*flags)[a < 0 ? a + rank : a] = true;
  }
  return std::nullopt;
}

Fault OperatorReader::convolved(size_t image, i32 axis, size_t bias_at) const {
  const Shape &x = type(image).shape, &w = type(1).shape, &r = y().shape;
  if (x.size() != 4 || w.size() != 4 || r.size() != 4)
    return wrong("ranks of image, weights and result",
                 fmt::format("{}, {}, {}", x.size(), w.size(), r.size()), "4");
  DEUTERON_TRY(weights(1, 4, axis, w[axis]));
  return bias(bias_at, w[axis]);
}

Fault OperatorReader::image_result(i64 images, i64 channels) const {
  const Shape& r = y().shape;
  if (r[0] == images && r[3] == channels) return std::nullopt;
  return wrong("shape of the result", to_text(r),
               fmt::format("{} images of {} channels", images, channels));
}

Fault OperatorReader::same_quant_int8() const {
  DEUTERON_TRY(int8(0));
  DEUTERON_TRY(int8_result());
  return same_quant(0);
}

}  // namespace deuteron::neutron

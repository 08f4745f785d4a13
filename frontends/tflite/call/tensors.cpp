// SPDX-License-Identifier: Apache-2.0
#include "frontends/tflite/call/tensors.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "base/data/array.h"

namespace deuteron::tflite {
namespace {

constexpr size_t kMostRank = 8;
constexpr i32 kShift = 128;  // from uint8 to int8

struct TypeRow {
  TensorType type;
  DType dtype;
  int bits;                                             // of an element in the file
  float (*number)(const std::byte* element) = nullptr;  // of floats that are float32 here
};
template <class T>
T element_at(const std::byte* at) {
  T element;
  std::memcpy(&element, at, sizeof element);
  return element;
}
constexpr TypeRow kTypes[] = {
    {TensorType::FLOAT32, DType::f32, 32},
    {TensorType::FLOAT16, DType::f32, 16,
     [](const std::byte* at) { return half_to_float(element_at<uint16_t>(at)); }},
    {TensorType::BFLOAT16, DType::f32, 16,
     [](const std::byte* at) {
       return std::bit_cast<float>(static_cast<uint32_t>(element_at<uint16_t>(at)) << 16);
     }},
    {TensorType::FLOAT64, DType::f32, 64,
     [](const std::byte* at) { return static_cast<float>(element_at<double>(at)); }},
    {TensorType::INT2, DType::s8, 2},
    {TensorType::INT4, DType::s8, 4},
    {TensorType::INT8, DType::s8, 8},
    {TensorType::UINT8, DType::u8, 8},
    {TensorType::INT16, DType::s16, 16},
    {TensorType::INT32, DType::s32, 32},
    {TensorType::INT64, DType::s64, 64},
    {TensorType::BOOL, DType::b8, 8},
    {TensorType::COMPLEX64, DType::f32, 64},
};

Refusal wrong(std::string what, std::string measured, std::string limit, const char* rule) {
  return {std::move(what), std::move(measured), std::move(limit), rule};
}

std::optional<Refusal> read_shape(const Tensor& t, Type& type) {
  const auto shape = ints_of(t.shape());
  if (shape.size() > kMostRank)
    return wrong("has too many axes", std::to_string(shape.size()), "8", "tflite.tensor.rank");
  i64 elements = 1;
  for (const i32 extent : shape) {
    if (extent < 0)
      return wrong("has an axis of a negative extent", std::to_string(extent), "1..",
                   "tflite.tensor.extent");
    elements *= extent;
    if (elements > kMostElements)
      return wrong("has too many elements", fmt::format("at least {}", elements),
                   std::to_string(kMostElements), "tflite.tensor.elements");
    type.shape.push_back(extent);
  }
  return std::nullopt;
}

struct Range {
  i64 low, high;
};
Range range_of(DType dtype) {
  if (dtype == DType::s8) return {-128, 127};
  if (dtype == DType::u8) return {0, 255};
  if (dtype == DType::s16) return {-32768, 32767};
  return {std::numeric_limits<i32>::min(), std::numeric_limits<i32>::max()};
}

// Zero points are not read in place: the verifier does not look at the alignment of elements.
i64 zero_point(const QuantizationParameters& q, flatbuffers::uoffset_t k) {
  if (!q.zero_point() || q.zero_point()->size() == 0) return 0;
  int64_t zero = 0;
  std::memcpy(&zero, q.zero_point()->Data() + (q.zero_point()->size() == 1 ? 0 : k) * sizeof zero,
              sizeof zero);
  return zero;
}

std::optional<Refusal> read_quant(const QuantizationParameters& q, Type& type) {
  if (q.details())
    return wrong("has quantization of a kind of its own", "custom", "scale and zero point",
                 "tflite.quant.custom");
  const flatbuffers::uoffset_t count = q.scale()->size();
  const flatbuffers::uoffset_t zeros = q.zero_point() ? q.zero_point()->size() : 0;
  if (zeros > 1 && zeros != count)
    return wrong("has another number of zero points than of scales", std::to_string(zeros),
                 std::to_string(count), "tflite.quant.zero_points");
  Quant quant;
  if (count > 1) {
    const i32 axis = q.quantized_dimension();
    if (axis < 0 || axis >= type.rank())
      return wrong("has scales along an axis that it does not have", std::to_string(axis),
                   fmt::format("0..{}", type.rank() - 1), "tflite.quant.axis");
    if (type.shape[axis] != static_cast<i64>(count))
      return wrong("has another number of scales than channels", std::to_string(count),
                   std::to_string(type.shape[axis]), "tflite.quant.channels");
    quant.axis = axis;
  }
  const Range range = range_of(type.dtype);
  for (flatbuffers::uoffset_t k = 0; k < count; ++k) {
    const float scale = q.scale()->Get(k);
    if (!std::isfinite(scale) || scale < std::numeric_limits<float>::min())
      return wrong("has a scale that is not positive and finite", fmt::format("{:g}", scale),
                   "above 0", "tflite.quant.scale");
    const i64 zero = zero_point(q, k);
    if (zero < range.low || zero > range.high)
      return wrong("has a zero point outside of its type", std::to_string(zero),
                   fmt::format("{}..{}", range.low, range.high), "tflite.quant.zero_point");
    quant.scale.push_back(scale);
    quant.zero_point.push_back(static_cast<i32>(zero));
  }
  if (type.dtype == DType::s16)
    quant.low = static_cast<i32>(range.low), quant.high = static_cast<i32>(range.high);
  if (type.dtype == DType::s32)
    quant.low = std::numeric_limits<i32>::min(), quant.high = std::numeric_limits<i32>::max();
  type.quant = std::move(quant);
  return std::nullopt;
}

void shift_to_int8(ModelTensor& t) {
  t.shifted = true;
  t.type.dtype = DType::s8;
  for (i32& zero : t.type.quant.zero_point) zero -= kShift;
  if (!t.constant) return;
  std::vector<int8_t> steps;
  for (const std::byte b : t.constant->bytes)
    steps.push_back(static_cast<int8_t>(std::to_integer<int>(b) - kShift));
  t.constant = constant_of(std::move(steps));
}

// Elements of fewer than 8 bits, the first of a byte in its lowest bits.
Constant unpacked(std::span<const u8> data, i64 elements, int bits) {
  std::vector<int8_t> steps;
  for (i64 k = 0; k < elements; ++k) {
    const int high = data[static_cast<size_t>(k * bits / 8)]
                     << (8 - bits - static_cast<int>(k * bits % 8));
    steps.push_back(static_cast<int8_t>(static_cast<int8_t>(high) >> (8 - bits)));
  }
  return constant_of(std::move(steps));
}

Constant as_float32(std::span<const u8> data, const TypeRow& row) {
  std::vector<float> numbers;
  const size_t width = static_cast<size_t>(row.bits / 8);
  for (size_t at = 0; at < data.size(); at += width)
    numbers.push_back(row.number(std::as_bytes(data).data() + at));
  return constant_of(std::move(numbers));
}

// Elements in place where they are aligned, else a copy.
Constant constant_in(std::span<const u8> data, DType dtype,
                     const std::shared_ptr<const void>& owner) {
  const auto bytes = std::as_bytes(data);
  if (reinterpret_cast<uintptr_t>(bytes.data()) % static_cast<uintptr_t>(bytes_of(dtype)) == 0)
    return {owner, bytes};
  auto words = std::make_shared<std::vector<i64>>((bytes.size() + 7) / 8);
  std::memcpy(words->data(), bytes.data(), bytes.size());
  return {words, std::as_bytes(std::span<const i64>(*words)).first(bytes.size())};
}

std::optional<Refusal> read_data(const Model& model, const Tensor& t, const TypeRow& row,
                                 const std::shared_ptr<const void>& owner, ModelTensor& result) {
  const auto data = buffer_of(model, t);
  if (!data.empty() && row.type == TensorType::COMPLEX64) {
    result.unsupported = wrong("is a constant of complex numbers", name_of_type(t.type()),
                               "what RFFT2D computes", "tflite.tensor.complex");
    return std::nullopt;
  }
  if (data.empty()) {
    if (row.bits < 8)
      result.unsupported =
          wrong("is of elements of fewer than 8 bits and no constant", name_of_type(t.type()),
                "INT8, or a constant", "tflite.tensor.bits");
    return std::nullopt;
  }
  const i64 elements = result.type.elements(), expected = (elements * row.bits + 7) / 8;
  if (static_cast<i64>(data.size()) != expected)
    return wrong("has another number of bytes than its shape says", std::to_string(data.size()),
                 std::to_string(expected), "tflite.tensor.bytes");
  if (result.type.dtype == DType::b8 &&
      std::any_of(data.begin(), data.end(), [](u8 v) { return v > 1; }))
    return wrong("has truth values that are neither 0 nor 1", "", "", "tflite.tensor.bool");
  result.constant = row.number     ? as_float32(data, row)
                    : row.bits < 8 ? unpacked(data, elements, row.bits)
                                   : constant_in(data, result.type.dtype, owner);
  return std::nullopt;
}

// Only what makes nonsense of the file; what is sound but not supported is said where it is used.
std::optional<Refusal> read(const Model& model, const Tensor& t,
                            const std::shared_ptr<const void>& owner, ModelTensor& result) {
  if (auto fault = read_shape(t, result.type)) return fault;
  result.is_variable = t.is_variable();
  // Converters leave such tensors behind, read by nobody.
  if (numel(result.type.shape) == 0)
    result.unsupported =
        wrong("has no elements", to_text(result.type.shape), "1..", "tflite.tensor.extent");
  const auto row = std::find_if(std::begin(kTypes), std::end(kTypes),
                                [&](const TypeRow& r) { return r.type == t.type(); });
  if (row == std::end(kTypes)) {
    result.unsupported = wrong(
        "has elements of a type that is not supported", name_of_type(t.type()),
        "FLOAT16, FLOAT32, INT4, INT8, UINT8, INT16, INT32, INT64, BOOL", "tflite.tensor.type");
    return std::nullopt;
  }
  result.type.dtype = row->dtype;
  result.is_complex = row->type == TensorType::COMPLEX64;
  if (t.sparsity())
    result.unsupported = wrong("is sparse", "sparse", "dense", "tflite.tensor.sparse");
  for (const i32 extent : ints_of(t.shape_signature())) {
    if (extent < -1)
      return wrong("has an extent that is neither known nor left open", std::to_string(extent),
                   "-1..", "tflite.tensor.extent");
    result.open.push_back(extent == -1);
  }
  if (result.open.size() != result.type.shape.size()) result.open.clear();
  const QuantizationParameters* q = t.quantization();
  const bool has_steps = result.type.dtype == DType::s8 || result.type.dtype == DType::u8 ||
                         result.type.dtype == DType::s16;
  const bool has_scales = q && q->scale() && q->scale()->size() > 0;
  if (has_scales && has_steps)
    if (auto fault = read_quant(*q, result.type)) return fault;
  if (has_steps && !has_scales && q && q->details_type() != QuantizationDetails::NONE)
    result.unsupported = wrong("has quantization of a kind of its own", "by block",
                               "scale and zero point", "tflite.quant.custom");
  // Scales beside int32 are mostly a bias's, which has those of its operands whatever the file
  // says; beside floats they mean nothing.
  if (Type counted = result.type;
      has_scales && counted.dtype == DType::s32 && !read_quant(*q, counted))
    result.of_int32 = std::move(counted.quant);
  if (auto fault = read_data(model, t, *row, owner, result)) return fault;
  if (result.type.dtype == DType::u8 && !result.type.quant.empty()) shift_to_int8(result);
  return std::nullopt;
}

}  // namespace

std::string name_of_type(TensorType type) {
  const char* name = EnumNameTensorType(type);
  return name && *name ? name : fmt::format("type {}", static_cast<int>(type));
}

std::optional<std::vector<ModelTensor>> read_tensors(const Model& model, i32 subgraph,
                                                     const std::shared_ptr<const void>& owner,
                                                     const std::string& file,
                                                     Diagnostics& diagnostics) {
  std::vector<ModelTensor> tensors;
  bool good = true;
  for (const Tensor* t :
       *model.subgraphs()->Get(static_cast<flatbuffers::uoffset_t>(subgraph))->tensors()) {
    ModelTensor result;
    result.name = t->name() ? t->name()->str() : fmt::format("tensor{}", tensors.size());
    if (const auto fault = read(model, *t, owner, result)) {
      diagnostics.add({Severity::error,
                       fmt::format("{}: tensor `{}` (tensor {} of subgraph {})", file, result.name,
                                   tensors.size(), subgraph),
                       fault->what,
                       fault->measured,
                       fault->limit,
                       fault->rule,
                       {}});
      good = false;
    }
    tensors.push_back(std::move(result));
  }
  if (!good) return std::nullopt;
  return tensors;
}

}  // namespace deuteron::tflite

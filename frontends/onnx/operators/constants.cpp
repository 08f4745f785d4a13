// SPDX-License-Identifier: Apache-2.0
// Tensors that the model makes from nothing or from shapes, identities, and changes of type.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "frontends/onnx/operators/compose.h"
#include "frontends/onnx/operators/import_table.h"

namespace deuteron::onnx {
namespace {

Operand from_tensor(Call& c, const ModelTensor& tensor) {
  Refusal why;
  auto elements = elements_of(tensor, why);
  if (!elements) c.refuse(std::move(why));
  return elements ? c.known("", std::move(elements->type), std::move(elements->data)) : Operand{};
}

// Of the dtype that `like` has, each element the same.
Operand filled(Call& c, const Shape& shape, DType dtype, float real, i64 integer) {
  i64 elements = 1;
  for (const i64 extent : shape) {
    c.require(extent >= 0 && extent <= pt2::kMaxElements && elements * extent <= pt2::kMaxElements,
              "the size is out of range", to_text(shape), std::to_string(pt2::kMaxElements),
              "onnx.constant.size");
    if (!c.ok()) return {};
    elements *= extent;
  }
  if (!c.may_make(elements)) return {};
  const size_t count = static_cast<size_t>(elements);
  if (dtype == DType::f32) return c.numbers("", shape, std::vector<float>(count, real));
  return c.known("", {dtype, shape, {}}, std::vector<i64>(count, integer));
}

}  // namespace

static void import_constant(Call& c) {
  const Attribute* value = nullptr;
  for (const char* name : {"value", "value_float", "value_floats", "value_int", "value_ints"})
    if (!value) value = c.attribute(name);
  using K = Attribute::Kind;
  if (value && value->kind == K::tensor)
    return c.note_width(value->tensor->type), c.result(from_tensor(c, *value->tensor));
  if (value && value->kind == K::real)
    return c.result(c.numbers("", {}, {static_cast<float>(value->real)}));
  if (value && value->kind == K::reals)
    return c.result(c.numbers("", {static_cast<i64>(value->reals.size())}, value->reals));
  if (value && value->kind == K::integer)
    return c.result(c.known("", {DType::s64, {}, {}}, {value->integer}));
  if (value && value->kind == K::integers)
    return c.result(
        c.known("", {DType::s64, {static_cast<i64>(value->integers.size())}, {}}, value->integers));
  c.refuse({"holds a value of a kind that is not supported", "", "", "onnx.constant.kind"},
           "give it as a dense tensor of numbers");
}

static void import_constant_of_shape(Call& c) {
  const std::vector<i64> shape = c.integers_of(0, "shape");
  const Attribute* value = c.attribute("value");
  DType dtype = DType::f32;
  float real = 0;
  i64 integer = 0;
  if (value && value->kind == Attribute::Kind::tensor) {
    const Operand given = from_tensor(c, *value->tensor);
    const auto known = c.known_numbers(given);
    c.require(!c.ok() || (known && known->size() == 1), "has a value that is not a single number",
              "", "", "onnx.constant.kind");
    if (!c.ok()) return;
    dtype = c.dtype(given), real = (*known)[0];
    if (const auto exact = c.known_integers(given)) integer = (*exact)[0];
  }
  c.result(filled(c, shape, dtype, real, integer));
}

// A slice of the operand's extents, cut off at the ends.
static void import_shape(Call& c) {
  const Operand x = c.operand(0);
  if (!c.ok()) return;
  const Shape shape = c.shape(x);
  const i64 rank = static_cast<i64>(shape.size());
  const auto position = [rank](i64 v) { return std::clamp<i64>(v < 0 ? v + rank : v, 0, rank); };
  const i64 start = position(c.integer("start", 0)),
            end = std::max(position(c.integer("end", rank)), start);
  c.result(c.known("", {DType::s64, {end - start}, {}},
                   Shape(shape.begin() + start, shape.begin() + end)));
}

static void import_size(Call& c) {
  const Operand x = c.operand(0);
  if (c.ok()) c.result(c.known("", {DType::s64, {}, {}}, std::vector<i64>{numel(c.shape(x))}));
}

static void import_range(Call& c) {
  const Operand first = c.operand(0);
  const double start = c.number_of(0, "start", 0), end = c.number_of(1, "limit", 0),
               step = c.number_of(2, "step", 1);
  const double count = step != 0 ? std::max(std::ceil((end - start) / step), 0.0) : 0;
  c.require(!c.ok() || (step != 0 && std::isfinite(count) && count <= 1 << 24),
            "has no elements, or too many", fmt::format("{}", count), std::to_string(1 << 24),
            "onnx.constant.size");
  if (!c.ok() || !c.may_make(static_cast<i64>(count))) return;
  std::vector<float> numbers;
  for (i64 k = 0; k < static_cast<i64>(count); ++k)
    numbers.push_back(static_cast<float>(start + static_cast<double>(k) * step));
  const Shape shape{static_cast<i64>(numbers.size())};
  const DType dtype = c.dtype(first);
  if (dtype == DType::f32) return c.result(c.numbers("", shape, std::move(numbers)));
  c.require(std::abs(start) <= 0x1p24 && std::abs(end) <= 0x1p24,
            "counts through integers that float32 does not hold", fmt::format("{}..{}", start, end),
            "2^24", "onnx.constant.size");
  if (!c.ok()) return;
  c.result(c.known("", {dtype, shape, {}}, std::vector<i64>(numbers.begin(), numbers.end())));
}

// Ones on one diagonal of a matrix as large as the operand.
static void import_eye_like(Call& c) {
  const Operand x = c.operand(0);
  const Shape s = c.shape(x);
  const Element said = static_cast<Element>(c.integer("dtype", 0));
  const auto dtype = said == Element::undefined ? std::optional(c.dtype(x)) : dtype_of(said);
  c.require(!c.ok() || s.size() == 2, "makes a matrix of another tensor than one", to_text(s),
            "2 axes", "onnx.constant.matrix");
  const bool known =
      dtype == DType::f32 || dtype == DType::s64 || dtype == DType::s32 || dtype == DType::b8;
  c.require(!c.ok() || known, "makes elements of a type that is not supported", name_of(said),
            "FLOAT, INT32, INT64, BOOL", "onnx.cast.type");
  const i64 first = std::clamp<i64>(c.integer("k", 0), -pt2::kMaxElements, pt2::kMaxElements);
  if (!c.ok() || !c.may_make(numel(s))) return;
  std::vector<i64> eye(static_cast<size_t>(numel(s)), 0);
  for (i64 row = 0; row < s[0]; ++row)
    if (row + first >= 0 && row + first < s[1])
      eye[static_cast<size_t>(row * s[1] + row + first)] = 1;
  if (dtype == DType::f32) return c.result(c.numbers("", s, {eye.begin(), eye.end()}));
  c.result(c.known("", {*dtype, s, {}}, eye));
}

static void import_identity(Call& c) { c.result(c.operand(0)); }

// The second result of Dropout, a mask of what is kept, is true everywhere.
static void import_dropout(Call& c) {
  const Operand x = c.operand(0);
  if (c.has(2))
    c.require(c.number_of(2, "training mode", 0) == 0,
              "drops values at random: the model was exported in training mode", "", "",
              "onnx.dropout.training");
  c.result(x);
  if (!c.wants(1) || !c.ok()) return;
  const Operand mask = filled(c, c.shape(x), DType::b8, 1, 1);
  c.result(1, mask);
}

// Known numbers are converted here; computed ones by a call. Floats of any width are float32.
static void convert(Call& c, const Operand& x, DType to) {
  if (!c.ok() || c.dtype(x) == to) return c.result(x);
  const bool is_integer = to == DType::s64 || to == DType::s32 || to == DType::b8;
  if (const auto known = is_integer ? c.known_numbers(x) : std::nullopt) {
    std::vector<i64> data;
    for (const float v : *known) {
      c.require(std::abs(v) < 0x1p31f, "converts numbers that the type does not hold",
                std::to_string(v), "2^31", "onnx.cast.range");
      data.push_back(!c.ok() ? 0 : to == DType::b8 ? v != 0 : static_cast<i64>(v));
    }
    return c.result(c.known("", {to, c.shape(x), {}}, data));
  }
  c.result(converted(c, x, to, ""));
}

static void import_cast(Call& c) {
  c.need_attribute("to");
  const Element element = static_cast<Element>(c.integer("to", 0));
  const auto to = dtype_of(element);
  c.require(!c.ok() || to.has_value(), "converts to a type that is not supported", name_of(element),
            "FLOAT, INT32, INT64, BOOL", "onnx.cast.type");
  const Operand x = c.operand(0);
  if (c.ok()) convert(c, x, *to);
}

static void import_cast_like(Call& c) {
  const Operand x = c.operand(0), like = c.operand(1);
  convert(c, x, c.dtype(like));
}

static constexpr ImportRow kConstantsRows[] = {
    {"Cast", import_cast},
    {"CastLike", import_cast_like},
    {"Constant", import_constant},
    {"ConstantOfShape", import_constant_of_shape},
    {"Dropout", import_dropout, {}, true},
    {"EyeLike", import_eye_like},
    {"Identity", import_identity, {}, true},
    {"Range", import_range},
    {"Shape", import_shape},
    {"Size", import_size},
};
ImportRows constants_rows() { return kConstantsRows; }

}  // namespace deuteron::onnx

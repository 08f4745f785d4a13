// SPDX-License-Identifier: Apache-2.0
// Shapes as numbers, tensors of one number, repetitions, and changes of the type of numbers.
#include <fmt/format.h>

#include "base/tensor/elements.h"
#include "frontends/tflite/operators/calls.h"
#include "frontends/tflite/operators/import_table.h"
#include "ops/common/broadcast.h"

namespace deuteron::tflite {
namespace {

void finish_shape(Call& c, const Shape& numbers) {
  const DType dtype = c.declared_result(0).dtype;
  c.require(dtype == DType::s32 || dtype == DType::s64,
            "has a result of another type than it computes", std::string(name_of(dtype)),
            "INT32, INT64", "tflite.result.type");
  if (!c.ok()) return;
  const Type type{dtype, {static_cast<i64>(numbers.size())}, {}};
  c.result(c.constant("", type,
                      dtype == DType::s64
                          ? constant_of(numbers)
                          : constant_of(std::vector<i32>(numbers.begin(), numbers.end()))));
}

// One element, repeated.
void finish_repeated(Call& c, ValueId one, const Shape& to) {
  if (!c.ok()) return;
  c.require(c.type(one).elements() == 1, "fills with more than one value",
            std::to_string(c.type(one).elements()), "1", "tflite.operand.scalar");
  const Shape ones(to.size(), 1);
  one = c.reshape(one, ones, "one");
  c.result(to == ones ? one : c.add(Expand{to}, {one}));
}

}  // namespace

static void import_broadcast_to(Call& c) {
  c.takes(2, 2);
  ValueId x = c.in(0);
  if (!c.ok()) return;
  const Shape to = c.declared_result(0).shape;
  Shape from = c.shape(x);
  c.require(from.size() <= to.size(), "repeats to fewer axes", std::to_string(to.size()),
            std::to_string(from.size()), "tflite.broadcast_to.axes");
  while (c.ok() && from.size() < to.size()) from.insert(from.begin(), 1);
  x = c.reshape(x, from, "axes");
  c.result(from == to ? x : c.add(Expand{to}, {x}));
}

// Tensors have the extents that the file says.
static void import_shape(Call& c) {
  c.takes(1, 1);
  if (c.ok()) finish_shape(c, c.declared(0).shape);
}

static void import_broadcast_args(Call& c) {
  c.takes(2, 2);
  const Shape a = c.integers(0), b = c.integers(1);
  const auto common = broadcast_shape(a, b);
  c.require(common.has_value(), "has operands whose shapes do not fit each other", to_text(b),
            to_text(a), "tflite.operand.shape");
  if (c.ok()) finish_shape(c, *common);
}

static void import_fill(Call& c) {
  c.takes(2, 2);
  const Shape to = c.integers(0);
  finish_repeated(c, c.in(1), to);
}

static void import_zeros_like(Call& c) {
  c.takes(1, 1);
  const Type& declared = c.declared_result(0);
  const DType dtype = declared.quant.empty() ? declared.dtype : DType::f32;
  c.require(dtype == DType::f32 || dtype == DType::s32 || dtype == DType::s64 || dtype == DType::b8,
            "makes numbers of a type that is not supported", std::string(name_of(dtype)),
            "FLOAT32, INT8 with a scale, INT32, INT64, BOOL", "tflite.result.type");
  if (!c.ok()) return;
  const Type zero{dtype, {}, {}};
  finish_repeated(c,
                  c.constant("zero", zero, constant_of(elements_of(std::vector<float>{0}, zero))),
                  c.declared(0).shape);
}

// TFLite converts the steps themselves, not what they mean.
static void import_cast(Call& c) {
  c.takes(1, 1);
  for (const Type* t : {&c.declared(0), &c.declared_result(0)})
    if (c.ok() && (!t->quant.empty() || t->dtype == DType::s8 || t->dtype == DType::u8))
      c.refuse({"converts the steps of a tensor, not its numbers, which is not supported",
                std::string(name_of(t->dtype)), "FLOAT32, INT32, INT64, BOOL", "tflite.cast.steps"},
               "use QUANTIZE or DEQUANTIZE, which know scale and zero point");
  c.result(converted(c, c.in(0), c.declared_result(0).dtype));
}

static constexpr ImportRow kShapesRows[] = {
    {BuiltinOperator::BROADCAST_ARGS, import_broadcast_args},
    {BuiltinOperator::BROADCAST_TO, import_broadcast_to, Int16::taken},
    {BuiltinOperator::CAST, import_cast},
    {BuiltinOperator::FILL, import_fill, Int16::taken},
    {BuiltinOperator::SHAPE, import_shape, Int16::taken},
    {BuiltinOperator::ZEROS_LIKE, import_zeros_like},
};
ImportRows shapes_rows() { return kShapesRows; }

}  // namespace deuteron::tflite

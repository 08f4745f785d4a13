// SPDX-License-Identifier: Apache-2.0
// Changes of type or parameters: QUANTIZE and DEQUANTIZE.
#include <fmt/format.h>

#include "frontends/tflite/operators/import_table.h"
#include "frontends/tflite/operators/parts.h"
#include "ops/common/multiplier.h"

namespace deuteron::tflite {
namespace {

// The result's own steps, or none.
void import_dequantize(Call& c) {
  c.takes(1, 1);
  c.result(c.real(0));
}

// From or to int32 steps, which no other operator reads as steps: the bits of the reference kernel.
void quantize_int32(Call& c) {
  const bool from_int32 = c.declared(0).dtype == DType::s32;
  const Quant x = from_int32 ? c.quant_of_int32(0) : c.declared(0).quant;
  const Quant y = from_int32 ? c.declared_result(0).quant : c.result_quant_of_int32(0);
  c.require(x.scale.size() == 1 && y.scale.size() == 1,
            "has int32 steps beside anything else than steps with one scale",
            fmt::format("{} and {} scales", x.scale.size(), y.scale.size()), "one each",
            "tflite.quantize.int32");
  if (!c.ok()) return;
  for (const i32 zero : {from_int32 ? x.zero_point[0] : 0, from_int32 ? 0 : y.zero_point[0]})
    c.require(zero == 0, "has int32 steps with a zero point", std::to_string(zero), "0",
              "tflite.quantize.int32");
  const auto m =
      checked_multiplier(static_cast<double>(x.scale[0]) / static_cast<double>(y.scale[0]),
                         Ties::away, "tflite.quantize.scale");
  if (!m) return c.refuse(m.why);
  const ValueId steps = from_int32 ? c.in(0) : c.steps_value(0);
  if (!c.ok()) return;
  const Shape shape = c.shape(steps);
  CallBuilder call("deuteron::rescale_s32", 1, 1);
  call.in(0, plain_face(shape))
      .integer(x.zero_point[0])
      .integer(m->value)
      .integer(m->shift)
      .integer(y.zero_point[0]);
  call.out(0, plain_face(shape));
  c.result(c.add_call(call.done().call, {steps},
                      {c.declared_result(0).dtype, shape, from_int32 ? y : Quant{}}));
}

void import_quantize(Call& c) {
  c.takes(1, 1);
  if (c.declared(0).dtype == DType::s32 || c.declared_result(0).dtype == DType::s32)
    return quantize_int32(c);
  require_int16_zero(c);
  c.result(c.real(0));
}

}  // namespace

static constexpr ImportRow kConversionsRows[] = {
    {BuiltinOperator::DEQUANTIZE, import_dequantize, Int16::any_zero},
    {BuiltinOperator::QUANTIZE, import_quantize, Int16::any_zero},
};
ImportRows conversions_rows() { return kConversionsRows; }

}  // namespace deuteron::tflite

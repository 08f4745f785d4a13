// SPDX-License-Identifier: Apache-2.0
// Operators on int16 activations (docs/precision.md): symmetric steps, zero point 0; weights of
// layers are int16 too, as fine as sums in int32 allow. An operator has a form where its folder has
// int16.h; its kernel lies in ops/<operator>_s16/.
#pragma once
#include "ops/all.h"

namespace deuteron {

// Those of int8 with int16 activations and weights; empty for an operator without a form. What is
// only another view of its operand (is_same_storage) has one.
std::span<const QuantSpec> int16_quant_specs(const Op&);
// The same as TFLite has it, whose weights are int8 (16x8): for models that came so.
std::span<const QuantSpec> tflite_int16_quant_specs(const Op&);
// Those of an operator on int8 whose result is int16; empty where there is none. Its folder's
// int16.h has int16_result_weights() then.
std::span<const QuantSpec> int16_result_quant_specs(const Op&);

// Whether a result of the inferred type may be the given one instead: int16 where int8 is inferred.
bool may_be_int16_result(const Op&, const Type& inferred, const Type& given);

// Whether any operand or result holds int16 steps.
bool works_on_int16(TypeView in, TypeView out);
// The call of our dialect for int16 operands, or an int16 result. With TFLite's rounding it has the
// bits of TFLite's reference kernels (deuteron::*_16x8), or there is none.
Result<Lowered> lower_to_int16(const Op&, const LowerContext&);

}  // namespace deuteron

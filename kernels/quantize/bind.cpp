// SPDX-License-Identifier: Apache-2.0
// cortex_m::quantize_per_tensor: its arguments checked once, at load.
#include "kernels/common/float_argument.h"
#include "kernels/common/kernels.h"
#include "kernels/common/prepare.h"
#include "kernels/quantize/kernel.h"
#include "runtime/instruction_set.h"

namespace deuteron {

DEUTERON_FIELDS(QuantizeArgs, count, reciprocal, zero, low, high)

namespace {

enum { kX, kScale, kZero, kLow, kHigh, kDtype, kOut };

Status prepare(Call& call, Prepared* prepared) {
  const Tensor &x = call.tensor(kX), &y = call.tensor(kOut);
  const bool wide = y.type == ScalarType::s16;
  const int64_t least = wide ? INT16_MIN : INT8_MIN, most = wide ? INT16_MAX : INT8_MAX;
  if (x.type != ScalarType::f32 || !is_aligned(x, 4))
    return bad_argument(kX, "must be float32 and 4-aligned");
  if ((y.type != ScalarType::s8 && !wide) || !is_aligned(y, wide ? 2 : 1))
    return bad_argument(kOut, "must be int8, or int16 and 2-aligned");
  if (call.integer(kDtype) != static_cast<int64_t>(y.type))
    return bad_argument(kDtype, "must be the dtype of the output");
  if (!same_layout(x, y))
    return bad_argument(kOut, "must have the sizes and the order of the input");
  const float scale = float_argument(call, kScale), reciprocal = 1.0f / scale;
  if (!is_positive_finite(scale) || !is_finite(reciprocal))
    return bad_argument(kScale, "must be positive, with a finite reciprocal");
  if (!lies_in(call.integer(kZero), least, most))
    return bad_argument(kZero, "must be within the dtype");
  if (!lies_in(call.integer(kLow), least, most))
    return bad_argument(kLow, "must be within the dtype");
  if (!lies_in(call.integer(kHigh), call.integer(kLow), most))
    return bad_argument(kHigh, "must be quant_min or more, within the dtype");
  const QuantizeArgs a{x.numel, reciprocal, static_cast<int32_t>(call.integer(kZero)),
                       static_cast<int32_t>(call.integer(kLow)),
                       static_cast<int32_t>(call.integer(kHigh))};
  const auto* from = static_cast<const float*>(x.data);
  if (wide) {
    auto* to = static_cast<int16_t*>(y.data);
    if (is_for<Feature::mve_float>(call) && a.reciprocal < kQuantizeMostReciprocal)
      return keep_for<Feature::mve_float, quantize_s16_mve>(call, prepared, a, from, to);
    return keep_linked<quantize_s16>(call, prepared, a, from, to);
  }
  auto* to = static_cast<int8_t*>(y.data);
  if constexpr (!kIsMicrocontroller)  // of a C program: without the kernel for what is behind the
                                      // last block
    if (is_for<Feature::mve_float>(call) && a.count % kQuantizeBlock == 0)
      return keep_for<Feature::mve_float, quantize_s8_mve_blocks>(call, prepared, a, from, to);
  if (is_for<Feature::mve_float>(call))
    return keep_for<Feature::mve_float, quantize_s8_mve>(call, prepared, a, from, to);
  if constexpr (kHasMve || kIsHost)  // without floats in the vector unit, or not on the core at all
    if (call.isa == Isa::mve) return keep<quantize_s8_as_mve>(call, prepared, a, from, to);
  if (is_for<Feature::dsp_float>(call))
    return keep_for<Feature::dsp_float, quantize_s8_dsp>(call, prepared, a, from, to);
  if (is_for<Feature::soft_float>(call))
    return keep_for<Feature::soft_float, quantize_s8_scalar>(call, prepared, a, from, to);
  return keep_linked<quantize_s8>(call, prepared, a, from, to);
}

}  // namespace

const Kernel kQuantizePerTensor = {"cortex_m::quantize_per_tensor.out", "TFIIIIO", prepare, true};

}  // namespace deuteron

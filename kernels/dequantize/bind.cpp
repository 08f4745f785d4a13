// SPDX-License-Identifier: Apache-2.0
// cortex_m::dequantize_per_tensor: its arguments checked once, at load.
#include "kernels/common/float_argument.h"
#include "kernels/common/kernels.h"
#include "kernels/common/prepare.h"
#include "kernels/dequantize/kernel.h"
#include "runtime/instruction_set.h"

namespace deuteron {

DEUTERON_FIELDS(DequantizeArgs, count, scale, zero)

namespace {

enum { kX, kScale, kZero, kLow, kHigh, kDtype, kOut };

Status prepare(Call& call, Prepared* prepared) {
  const Tensor &x = call.tensor(kX), &y = call.tensor(kOut);
  const bool wide = x.type == ScalarType::s16;
  const int64_t least = wide ? INT16_MIN : INT8_MIN, most = wide ? INT16_MAX : INT8_MAX;
  if ((x.type != ScalarType::s8 && !wide) || !is_aligned(x, wide ? 2 : 1))
    return bad_argument(kX, "must be int8, or int16 and 2-aligned");
  if (y.type != ScalarType::f32 || !is_aligned(y, 4))
    return bad_argument(kOut, "must be float32 and 4-aligned");
  if (call.integer(kDtype) != static_cast<int64_t>(x.type))
    return bad_argument(kDtype, "must be the dtype of the input");
  if (!same_layout(x, y))
    return bad_argument(kOut, "must have the sizes and the order of the input");
  const float scale = float_argument(call, kScale);
  if (!is_finite(scale)) return bad_argument(kScale, "must be finite");
  if (!lies_in(call.integer(kLow), least, most))
    return bad_argument(kLow, "must be within the dtype");
  if (!lies_in(call.integer(kHigh), call.integer(kLow), most))
    return bad_argument(kHigh, "must be quant_min or more, within the dtype");
  if (!lies_in(call.integer(kZero), call.integer(kLow), call.integer(kHigh)))
    return bad_argument(kZero, "must be quant_min..quant_max");
  const DequantizeArgs a{x.numel, scale, static_cast<int32_t>(call.integer(kZero))};
  auto* to = static_cast<float*>(y.data);
  if (wide)
    return keep_linked<dequantize_s16>(call, prepared, a, static_cast<const int16_t*>(x.data), to);
  const auto* from = static_cast<const int8_t*>(x.data);
  if (is_for<Feature::mve_float>(call))
    return keep_for<Feature::mve_float, dequantize_s8_mve>(call, prepared, a, from, to);
  if (is_for<Feature::dsp_float>(call))
    return keep_for<Feature::dsp_float, dequantize_s8_dsp>(call, prepared, a, from, to);
  if (is_for<Feature::soft_float>(call))
    return keep_for<Feature::soft_float, dequantize_s8_scalar>(call, prepared, a, from, to);
  return keep_linked<dequantize_s8>(call, prepared, a, from, to);
}

}  // namespace

const Kernel kDequantizePerTensor = {"cortex_m::dequantize_per_tensor.out", "TFIIIIO", prepare};

}  // namespace deuteron

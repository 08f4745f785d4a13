// SPDX-License-Identifier: Apache-2.0
// cortex_m::dequantize_per_tensor: its arguments checked once, at load.
#include "kernels/common/float_argument.h"
#include "kernels/common/kernels.h"
#include "kernels/common/row.h"
#include "kernels/dequantize/kernel.h"
#include "runtime/instruction_set.h"

namespace deuteron {

DEUTERON_FIELDS(DequantizeArgs, count, scale, zero)

namespace {

using Args = DequantizeArgs;
enum { kX, kScale, kZero, kLow, kHigh, kDtype, kOut };
constexpr Argument kRow[] = {input(Is::s8, DEUTERON_FIELD(count)),
                             real(),
                             number(Is::any),
                             number(Is::step),
                             number(Is::step_max),
                             number(Is::any),
                             output(Is::f32_like)};
constexpr Argument kWideRow[] = {input(Is::s16, DEUTERON_FIELD(count)),
                                 real(),
                                 number(Is::any),
                                 number(Is::wide_step),
                                 number(Is::wide_step_max),
                                 number(Is::any),
                                 output(Is::f32_like)};

Status prepare(Call& call, Prepared* prepared) {
  const Tensor &x = call.tensor(kX), &y = call.tensor(kOut);
  bool wide = false;
  if (Status s = read_width(call, kX, &wide); !s.ok()) return s;
  Args a{};
  if (Status s = read_row(call, wide ? kWideRow : kRow, &a); !s.ok()) return s;
  if (call.integer(kDtype) != static_cast<int64_t>(x.type))
    return bad_argument(kDtype, "must be the dtype of the input");
  a.scale = float_argument(call, kScale);
  if (!is_finite(a.scale)) return bad_argument(kScale, "must be finite");
  if (!lies_in(call.integer(kZero), call.integer(kLow), call.integer(kHigh)))
    return bad_argument(kZero, "must be quant_min..quant_max");
  a.zero = static_cast<int32_t>(call.integer(kZero));
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

const Kernel kDequantizePerTensor = kernel_by<kRow>("cortex_m::dequantize_per_tensor.out", prepare);

}  // namespace deuteron

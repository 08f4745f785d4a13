// SPDX-License-Identifier: Apache-2.0
// cortex_m::quantize_per_tensor: its arguments checked once, at load.
#include "kernels/common/float_argument.h"
#include "kernels/common/kernels.h"
#include "kernels/common/row.h"
#include "kernels/quantize/kernel.h"
#include "runtime/instruction_set.h"

namespace deuteron {

DEUTERON_FIELDS(QuantizeArgs, count, reciprocal, zero, low, high)

namespace {

using Args = QuantizeArgs;
enum { kX, kScale, kZero, kLow, kHigh, kDtype, kOut };
constexpr Argument kRow[] = {input(Is::f32, DEUTERON_FIELD(count)),
                             real(),
                             number(Is::step, DEUTERON_FIELD(zero)),
                             number(Is::step, DEUTERON_FIELD(low)),
                             number(Is::step_max, DEUTERON_FIELD(high)),
                             number(Is::any),
                             output(Is::s8_like)};
constexpr Argument kWideRow[] = {input(Is::f32, DEUTERON_FIELD(count)),
                                 real(),
                                 number(Is::wide_step, DEUTERON_FIELD(zero)),
                                 number(Is::wide_step, DEUTERON_FIELD(low)),
                                 number(Is::wide_step_max, DEUTERON_FIELD(high)),
                                 number(Is::any),
                                 output(Is::s16_like)};

Status prepare(Call& call, Prepared* prepared) {
  const Tensor &x = call.tensor(kX), &y = call.tensor(kOut);
  bool wide = false;
  if (Status s = read_width(call, kOut, &wide); !s.ok()) return s;
  Args a{};
  if (Status s = read_row(call, wide ? kWideRow : kRow, &a); !s.ok()) return s;
  if (call.integer(kDtype) != static_cast<int64_t>(y.type))
    return bad_argument(kDtype, "must be the dtype of the output");
  const float scale = float_argument(call, kScale);
  a.reciprocal = 1.0f / scale;
  if (!is_positive_finite(scale) || !is_finite(a.reciprocal))
    return bad_argument(kScale, "must be positive, with a finite reciprocal");
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

const Kernel kQuantizePerTensor =
    kernel_by<kRow>("cortex_m::quantize_per_tensor.out", prepare, kInPlace);

}  // namespace deuteron

// SPDX-License-Identifier: Apache-2.0
// cortex_m::quantized_batch_matmul: its arguments checked once, at load. Its lhs_zero_point and
// rhs_zero_point are offsets, the negated zero points; output_zero_point is one.
#include "kernels/common/kernels.h"
#include "kernels/common/prepare.h"
#include "kernels/matmul/by_linear.h"
#include "kernels/matmul/kernel.h"
#include "runtime/instruction_set.h"

namespace deuteron {

DEUTERON_FIELDS(MatmulArgs, batch, rows, columns, inner, x_offset, other_offset, y_zero, multiplier,
                shift)

namespace {

enum { kX, kXOffset, kOther, kOtherOffset, kYZero, kMultiplier, kShift, kScratch, kOut };

Status prepare(Call& call, Prepared* prepared) {
  const Tensor &x = call.tensor(kX), &other = call.tensor(kOther), &y = call.tensor(kOut);
  if (const char* why = why_not_dense(x, ScalarType::s8, 3)) return bad_argument(kX, why);
  if (const char* why = why_not_dense(other, ScalarType::s8, 3)) return bad_argument(kOther, why);
  if (const char* why = why_not_dense(y, ScalarType::s8, 3)) return bad_argument(kOut, why);
  MatmulArgs a{};
  a.batch = x.sizes[0], a.rows = x.sizes[1], a.inner = x.sizes[2], a.columns = other.sizes[1];
  if (other.sizes[0] != a.batch || other.sizes[2] != a.inner)
    return bad_argument(kOther, "must have the batch and the inner extent of the first");
  if (y.sizes[0] != a.batch || y.sizes[1] != a.rows || y.sizes[2] != a.columns)
    return bad_argument(kOut, "must have the rows of both operands");
  if (!lies_in(call.integer(kXOffset), -255, 255))
    return bad_argument(kXOffset, "must be -255..255");
  if (!lies_in(call.integer(kOtherOffset), -255, 255))
    return bad_argument(kOtherOffset, "must be -255..255");
  if (!is_s8(call.integer(kYZero))) return bad_argument(kYZero, "must be -128..127");
  if (!is_multiplier(call.integer(kMultiplier)))
    return bad_argument(kMultiplier, "is out of range");
  if (!is_shift(call.integer(kShift))) return bad_argument(kShift, "must be -31..30");
  if (y.numel == 0) return keep_nothing(prepared);
  a.x_offset = static_cast<int32_t>(call.integer(kXOffset));
  a.other_offset = static_cast<int32_t>(call.integer(kOtherOffset));
  a.y_zero = static_cast<int32_t>(call.integer(kYZero));
  a.multiplier = static_cast<int32_t>(call.integer(kMultiplier));
  a.shift = static_cast<int32_t>(call.integer(kShift));
  const auto *left = static_cast<const int8_t*>(x.data),
             *right = static_cast<const int8_t*>(other.data);
  auto* to = static_cast<int8_t*>(y.data);
  if (serves<Feature::mve, why_not_linear_mve>(call, linear_of(a)))
    return keep_for<Feature::mve, matmul_s8_mve>(call, prepared, a, left, right, to);
  if (serves<Feature::dsp, why_not_linear_dsp>(call, linear_of(a)))
    return keep_for<Feature::dsp, matmul_s8_dsp>(call, prepared, a, left, right, to);
  if (is_for<Feature::scalar>(call))
    return keep_for<Feature::scalar, matmul_s8_scalar>(call, prepared, a, left, right, to);
  return keep<matmul_s8>(call, prepared, a, left, right, to);
}

}  // namespace

const Kernel kQuantizedBatchMatmul = {"cortex_m::quantized_batch_matmul.out", "TITIIIIXO", prepare};

}  // namespace deuteron

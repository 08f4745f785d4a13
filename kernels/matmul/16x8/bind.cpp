// SPDX-License-Identifier: Apache-2.0
// deuteron::matmul_16x8: its arguments checked once, at load.
#include "kernels/common/kernels.h"
#include "kernels/common/prepare_16x8.h"
#include "kernels/matmul/16x8/kernel.h"

namespace deuteron {

DEUTERON_FIELDS(Matmul16x8Args, batch, rows, columns, inner, multiplier, shift, y_min, y_max)

namespace {

enum { kX, kOther, kMultiplier, kShift, kYMin, kYMax, kOut };

Status prepare(Call& call, Prepared* prepared) {
  const Tensor &x = call.tensor(kX), &other = call.tensor(kOther), &y = call.tensor(kOut);
  for (const int i : {int{kX}, int{kOther}, int{kOut}}) {
    if (const char* why = why_not_dense(call.tensor(i), ScalarType::s16, 3))
      return bad_argument(i, why);
    if (!is_aligned(call.tensor(i), 2)) return bad_argument(i, "must be 2-aligned");
  }
  Matmul16x8Args a{};
  a.batch = x.sizes[0], a.rows = x.sizes[1], a.inner = x.sizes[2], a.columns = other.sizes[1];
  if (other.sizes[0] != a.batch || other.sizes[2] != a.inner)
    return bad_argument(kOther, "must have the batch and the inner extent of the first");
  if (y.sizes[0] != a.batch || y.sizes[1] != a.rows || y.sizes[2] != a.columns)
    return bad_argument(kOut, "must have the rows of both operands");
  if (!lies_in(call.integer(kMultiplier), 0, 32767))
    return bad_argument(kMultiplier, "must be 0..32767");
  if (!lies_in(call.integer(kShift), kLeastShift16x8, kMostShift16x8))
    return bad_argument(kShift, "must be 1..46");
  a.multiplier = static_cast<int32_t>(call.integer(kMultiplier));
  a.shift = static_cast<int32_t>(call.integer(kShift));
  if (Status s = read_bounds_s16(call, kYMin, &a.y_min, &a.y_max); !s.ok()) return s;
  if (y.numel == 0) return keep_nothing(prepared);
  const auto *from = static_cast<const int16_t*>(x.data),
             *by = static_cast<const int16_t*>(other.data);
  return keep_fastest<matmul_16x8, matmul_16x8_mve, matmul_16x8_dsp>(call, prepared, a, from, by,
                                                                     static_cast<int16_t*>(y.data));
}

}  // namespace

const Kernel kMatmul16x8 = {"deuteron::matmul_16x8.out", "TTIIIIO", prepare};

}  // namespace deuteron

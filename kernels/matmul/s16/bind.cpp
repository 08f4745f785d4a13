// SPDX-License-Identifier: Apache-2.0
// deuteron::matmul_s16: its arguments checked once, at load.
#include "kernels/common/kernels.h"
#include "kernels/common/prepare_s16.h"
#include "kernels/matmul/s16/kernel.h"

namespace deuteron {

DEUTERON_FIELDS(MatmulS16Args, batch, rows, columns, inner, first, multiplier, shift, y_min, y_max)

namespace {

enum { kX, kOther, kFirst, kMultiplier, kShift, kYMin, kYMax, kOut };

Status prepare(Call& call, Prepared* prepared) {
  const Tensor &x = call.tensor(kX), &other = call.tensor(kOther), &y = call.tensor(kOut);
  for (const int i : {int{kX}, int{kOther}, int{kOut}}) {
    if (const char* why = why_not_dense(call.tensor(i), ScalarType::s16, 3))
      return bad_argument(i, why);
    if (!is_aligned(call.tensor(i), 2)) return bad_argument(i, "must be 2-aligned");
  }
  MatmulS16Args a{};
  a.batch = x.sizes[0], a.rows = x.sizes[1], a.inner = x.sizes[2], a.columns = other.sizes[1];
  if (other.sizes[0] != a.batch || other.sizes[2] != a.inner)
    return bad_argument(kOther, "must have the batch and the inner extent of the first");
  if (y.sizes[0] != a.batch || y.sizes[1] != a.rows || y.sizes[2] != a.columns)
    return bad_argument(kOut, "must have the rows of both operands");
  if (!lies_in(call.integer(kFirst), 0, 30)) return bad_argument(kFirst, "must be 0..30");
  if (a.inner > int64_t{1} << call.integer(kFirst))
    return bad_argument(kFirst, "lets the sum leave int32");
  if (!lies_in(call.integer(kMultiplier), 0, INT32_MAX))
    return bad_argument(kMultiplier, "is out of range");
  if (!lies_in(call.integer(kShift), 0, 30)) return bad_argument(kShift, "must be 0..30");
  a.first = static_cast<int32_t>(call.integer(kFirst));
  a.multiplier = static_cast<int32_t>(call.integer(kMultiplier));
  a.shift = static_cast<int32_t>(call.integer(kShift));
  if (Status s = read_bounds_s16(call, kYMin, &a.y_min, &a.y_max); !s.ok()) return s;
  if (y.numel == 0) return keep_nothing(prepared);
  return keep<matmul_s16>(call, prepared, a, static_cast<const int16_t*>(x.data),
                          static_cast<const int16_t*>(other.data), static_cast<int16_t*>(y.data));
}

}  // namespace

const Kernel kMatmulS16 = {"deuteron::matmul_s16.out", "TTIIIIIO", prepare};

}  // namespace deuteron

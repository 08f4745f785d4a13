// SPDX-License-Identifier: Apache-2.0
// deuteron::cumsum: its arguments checked once, at load. Input and output may be stored in any
// order, the same for both.
#include "kernels/common/kernels.h"
#include "kernels/common/prepare.h"
#include "kernels/cumsum/kernel.h"

namespace deuteron {

DEUTERON_FIELDS(CumsumArgs, outer, length, inner, x_zero, y_zero, multiplier, shift)

namespace {

enum { kX, kDim, kXZero, kYZero, kMultiplier, kShift, kOut };

Status prepare(Call& call, Prepared* prepared) {
  const Tensor &x = call.tensor(kX), &y = call.tensor(kOut);
  if (x.type != ScalarType::s8 || x.rank < 1)
    return bad_argument(kX, "must be int8 and have a dimension");
  if (y.type != ScalarType::s8) return bad_argument(kOut, "must be int8");
  if (!same_layout(x, y))
    return bad_argument(kOut, "must have the sizes and the order of the input");
  if (!lies_in(call.integer(kDim), 0, x.rank - 1))
    return bad_argument(kDim, "is no dimension of the input");
  if (!is_s8(call.integer(kXZero))) return bad_argument(kXZero, "must be int8");
  if (!is_s8(call.integer(kYZero))) return bad_argument(kYZero, "must be int8");
  if (!is_multiplier(call.integer(kMultiplier)))
    return bad_argument(kMultiplier, "is out of range");
  if (!is_shift(call.integer(kShift))) return bad_argument(kShift, "must be -31..30");
  if (x.numel == 0) return keep_nothing(prepared);
  const int32_t length = x.sizes[call.integer(kDim)];
  if (length > most_cumsum_length(call.integer(kShift)))
    return bad_argument(kX, "is too long for sums within int32");
  int32_t inner = 1;
  for (int k = x.rank - 1; x.dim_order[k] != call.integer(kDim); --k)
    inner *= x.sizes[x.dim_order[k]];
  const CumsumArgs a{x.numel / (length * inner),
                     length,
                     inner,
                     static_cast<int32_t>(call.integer(kXZero)),
                     static_cast<int32_t>(call.integer(kYZero)),
                     static_cast<int32_t>(call.integer(kMultiplier)),
                     static_cast<int32_t>(call.integer(kShift))};
  return keep<cumsum_s8>(call, prepared, a, static_cast<const int8_t*>(x.data),
                         static_cast<int8_t*>(y.data));
}

}  // namespace

const Kernel kCumsum = {"deuteron::cumsum.out", "TIIIIIO", prepare, true};

}  // namespace deuteron

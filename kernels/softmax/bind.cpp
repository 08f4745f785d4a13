// SPDX-License-Identifier: Apache-2.0
// cortex_m::softmax and deuteron::softmax_s8_wide: their arguments checked once, at load. `dim` may
// be any dimension whose elements lie side by side in memory; the stock kernel takes the last one
// only.
#include "kernels/common/kernels.h"
#include "kernels/common/prepare.h"
#include "kernels/common/prepare_s16.h"
#include "kernels/softmax/fields.h"

namespace deuteron {

namespace {

enum { kX, kDim, kXZero, kYZero, kMultiplier, kShift, kDiffMin, kOut };

bool is_innermost(const Tensor& t, int64_t dim) {
  if (t.sizes[dim] == 1) return true;
  int k = t.rank - 1;
  while (t.sizes[t.dim_order[k]] == 1) --k;
  return t.dim_order[k] == dim;
}

// Of the factor of differences, which stand together from argument `multiplier` on.
Status why_not_numbers(const Call& call, int multiplier) {
  const int shift = multiplier + 1, diff_min = multiplier + 2;
  if (!lies_in(call.integer(multiplier), 0, INT32_MAX))
    return bad_argument(multiplier, "is out of range");
  if (!lies_in(call.integer(shift), 0, 31)) return bad_argument(shift, "must be 0..31");
  if (!lies_in(call.integer(diff_min), INT32_MIN, 0))
    return bad_argument(diff_min, "must not be positive");
  const int64_t largest = call.integer(diff_min) > -255 ? -call.integer(diff_min) : 255;
  if (largest << call.integer(shift) > int64_t{1} << 31)
    return bad_argument(diff_min, "must keep differences within int32");
  return Status{};
}

SoftmaxArgs args_of(const Call& call, int multiplier, const Tensor& x, int32_t columns) {
  const auto number = [&](int i) { return static_cast<int32_t>(call.integer(i)); };
  return {x.numel / columns, columns, number(multiplier), number(multiplier + 1),
          number(multiplier + 2)};
}

Status prepare(Call& call, Prepared* prepared) {
  const Tensor &x = call.tensor(kX), &y = call.tensor(kOut);
  if (x.type != ScalarType::s8 || x.rank < 1)
    return bad_argument(kX, "must be int8 and have a dimension");
  if (y.type != ScalarType::s8) return bad_argument(kOut, "must be int8");
  if (!same_layout(x, y))
    return bad_argument(kOut, "must have the sizes and the order of the input");
  if (!lies_in(call.integer(kDim), -x.rank, x.rank - 1))
    return bad_argument(kDim, "is no dimension of the input");
  const int64_t dim = call.integer(kDim) < 0 ? call.integer(kDim) + x.rank : call.integer(kDim);
  if (!is_innermost(x, dim))
    return bad_argument(kDim, "must be the dimension whose elements lie side by side");
  if (x.sizes[dim] < 1) return bad_argument(kX, "must have elements along the dimension");
  if (call.integer(kYZero) != -128) return bad_argument(kYZero, "must be -128");
  if (Status status = why_not_numbers(call, kMultiplier); !status.ok()) return status;
  const SoftmaxArgs a = args_of(call, kMultiplier, x, x.sizes[dim]);
  return keep_fastest<softmax_s8, softmax_s8_mve>(
      call, prepared, a, static_cast<const int8_t*>(x.data), static_cast<int8_t*>(y.data));
}

enum { kWideX, kWideMultiplier, kWideShift, kWideDiffMin, kWideOut };

// Over the last dimension.
Status prepare_wide(Call& call, Prepared* prepared) {
  const Tensor &x = call.tensor(kWideX), &y = call.tensor(kWideOut);
  if (x.type != ScalarType::s8) return bad_argument(kWideX, "must be int8");
  if (x.rank < 1 || !is_dense(x))
    return bad_argument(kWideX,
                        "must have a dimension, and be stored in the order of its dimensions");
  if (const char* why = why_not_s16(y)) return bad_argument(kWideOut, why);
  if (!same_layout(x, y))
    return bad_argument(kWideOut, "must have the sizes and the order of the input");
  const int32_t columns = x.sizes[x.rank - 1];
  if (columns < 1 || columns > kMostSoftmaxWideColumns)
    return bad_argument(kWideX, "must have 1..4095 elements in a row");
  if (Status status = why_not_numbers(call, kWideMultiplier); !status.ok()) return status;
  return keep<softmax_s8_wide>(call, prepared, args_of(call, kWideMultiplier, x, columns),
                               static_cast<const int8_t*>(x.data), static_cast<int16_t*>(y.data));
}

}  // namespace

const Kernel kSoftmaxS8Wide = {"deuteron::softmax_s8_wide.out", "TIIIO", prepare_wide, false};
const Kernel kSoftmax = {"cortex_m::softmax.out", "TIIIIIIO", prepare, true};

}  // namespace deuteron

// SPDX-License-Identifier: Apache-2.0
// deuteron::softmax_16x8: its arguments checked once, at load. Rows are those of the last
// dimension.
#include "kernels/common/kernels.h"
#include "kernels/common/prepare_s16.h"
#include "kernels/softmax/16x8/kernel.h"

namespace deuteron {

DEUTERON_FIELDS(Softmax16x8Args, rows, columns, multiplier, shift)

namespace {

enum { kX, kExp, kReciprocal, kMultiplier, kShift, kOut };

const char* why_not_table(const Tensor& t) {
  if (const char* why = why_not_s16(t)) return why;
  if (t.rank != 1 || t.numel != kSoftmax16x8Entries) return "must have 513 entries";
  return t.constant ? nullptr : "must be a constant";
}

Status prepare(Call& call, Prepared* prepared) {
  const Tensor &x = call.tensor(kX), &y = call.tensor(kOut);
  int32_t columns;
  if (Status s = why_not_rows_s16(call, kX, kOut, &columns); !s.ok()) return s;
  for (const int table : {int{kExp}, int{kReciprocal}})
    if (const char* why = why_not_table(call.tensor(table))) return bad_argument(table, why);
  if (!lies_in(call.integer(kMultiplier), 0, INT32_MAX))
    return bad_argument(kMultiplier, "is out of range");
  if (!lies_in(call.integer(kShift), -31, 15)) return bad_argument(kShift, "must be -31..15");
  const Softmax16x8Args a{x.numel / columns, columns,
                          static_cast<int32_t>(call.integer(kMultiplier)),
                          static_cast<int32_t>(call.integer(kShift))};
  return keep<softmax_16x8>(call, prepared, a, static_cast<const int16_t*>(x.data),
                            static_cast<const int16_t*>(call.tensor(kExp).data),
                            static_cast<const int16_t*>(call.tensor(kReciprocal).data),
                            static_cast<int16_t*>(y.data));
}

}  // namespace

const Kernel kSoftmax16x8 = {"deuteron::softmax_16x8.out", "TTTIIO", prepare, true};

}  // namespace deuteron

// SPDX-License-Identifier: Apache-2.0
// deuteron::sigmoid_16x8: its arguments checked once, at load.
#include "kernels/common/kernels.h"
#include "kernels/common/prepare_s16.h"
#include "kernels/unary/sigmoid_16x8/kernel.h"

namespace deuteron {

DEUTERON_FIELDS(Sigmoid16x8Args, count, multiplier, shift)

namespace {

enum { kX, kTable, kMultiplier, kShift, kTanh, kOut };

const char* why_not_table(const Tensor& t) {
  if (const char* why = why_not_s16(t)) return why;
  if (t.rank != 1 || t.numel != kSigmoid16x8Entries) return "must have 256 entries";
  return t.constant ? nullptr : "must be a constant";
}

Status prepare(Call& call, Prepared* prepared) {
  const Tensor &x = call.tensor(kX), &y = call.tensor(kOut), &table = call.tensor(kTable);
  for (const int i : {int{kX}, int{kOut}})
    if (const char* why = why_not_s16(call.tensor(i))) return bad_argument(i, why);
  if (!same_layout(x, y))
    return bad_argument(kOut, "must have the sizes and the order of the operand");
  if (const char* why = why_not_table(table)) return bad_argument(kTable, why);
  if (!lies_in(call.integer(kMultiplier), 0, 65535))
    return bad_argument(kMultiplier, "must be 0..65535");
  if (!lies_in(call.integer(kShift), 0, 31)) return bad_argument(kShift, "must be 0..31");
  const Sigmoid16x8Args a{x.numel, static_cast<int32_t>(call.integer(kMultiplier)),
                          static_cast<int32_t>(call.integer(kShift))};
  const auto* from = static_cast<const int16_t*>(x.data);
  const auto* entries = static_cast<const int16_t*>(table.data);
  auto* to = static_cast<int16_t*>(y.data);
  if (call.boolean(kTanh)) return keep<tanh_16x8>(call, prepared, a, from, entries, to);
  return keep<logistic_16x8>(call, prepared, a, from, entries, to);
}

}  // namespace

const Kernel kSigmoid16x8 = {"deuteron::sigmoid_16x8.out", "TTIIBO", prepare, true};

}  // namespace deuteron

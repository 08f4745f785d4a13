// SPDX-License-Identifier: Apache-2.0
// deuteron::lookup_s16: its arguments checked once, at load.
#include "kernels/common/kernels.h"
#include "kernels/common/prepare_s16.h"
#include "kernels/unary/s16/kernel.h"

namespace deuteron {
namespace {

enum { kX, kTable, kOut };

Status prepare(Call& call, Prepared* prepared) {
  const Tensor &x = call.tensor(kX), &table = call.tensor(kTable), &y = call.tensor(kOut);
  for (const int i : {int{kX}, int{kTable}, int{kOut}})
    if (const char* why = why_not_s16(call.tensor(i))) return bad_argument(i, why);
  if (table.numel != kLookupS16Entries) return bad_argument(kTable, "must have 513 entries");
  if (!same_layout(x, y))
    return bad_argument(kOut, "must have the sizes and the order of the input");
  return keep<lookup_s16>(call, prepared, x.numel, static_cast<const int16_t*>(table.data),
                          static_cast<const int16_t*>(x.data), static_cast<int16_t*>(y.data));
}

}  // namespace

const Kernel kLookupS16 = {"deuteron::lookup_s16.out", "TTO", prepare, true};

}  // namespace deuteron

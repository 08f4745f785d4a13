// SPDX-License-Identifier: Apache-2.0
// deuteron::lookup_s16: its arguments checked once, at load.
#include "kernels/common/kernels.h"
#include "kernels/common/row.h"
#include "kernels/unary/s16/kernel.h"

namespace deuteron {

namespace {

enum { kX, kTable, kOut };
constexpr Argument kRow[] = {input(Is::s16), input(Is::s16), output(Is::s16_like)};

Status prepare(Call& call, Prepared* prepared) {
  const Tensor &x = call.tensor(kX), &table = call.tensor(kTable);
  if (Status s = read_row(call, kRow, nullptr); !s.ok()) return s;
  if (table.numel != kLookupS16Entries) return bad_argument(kTable, "must have 513 entries");
  return keep<lookup_s16>(call, prepared, x.numel, static_cast<const int16_t*>(table.data),
                          static_cast<const int16_t*>(x.data),
                          static_cast<int16_t*>(call.tensor(kOut).data));
}

}  // namespace

const Kernel kLookupS16 = kernel_by<kRow>("deuteron::lookup_s16.out", prepare, kInPlace);

}  // namespace deuteron

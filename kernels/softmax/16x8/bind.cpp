// SPDX-License-Identifier: Apache-2.0
// deuteron::softmax_16x8: its arguments checked once, at load. Rows are those of the last
// dimension.
#include "kernels/common/kernels.h"
#include "kernels/common/row.h"
#include "kernels/softmax/16x8/kernel.h"
#include "kernels/softmax/rows.h"

namespace deuteron {

DEUTERON_FIELDS(Softmax16x8Args, rows, columns, multiplier, shift)

namespace {

using Args = Softmax16x8Args;
constexpr Argument kRow[] = {input(Is::s16_rows),
                             input(Is::s16_table),
                             input(Is::s16_table),
                             number(Is::factor, DEUTERON_FIELD(multiplier)),
                             number(Is::shift_to_15, DEUTERON_FIELD(shift)),
                             output(Is::s16_like)};

bool more(const Call& call, Args& a, Status* why) {
  for (int table = 1; table <= 2; ++table)
    if (call.tensor(table).numel != kSoftmax16x8Entries)
      return refuse(why, table, "must have 513 entries");
  return read_rows(call.tensor(0), 1 << 16, "must have 1..65536 elements in a row", &a.rows,
                   &a.columns, why);
}

}  // namespace

const Kernel kSoftmax16x8 =
    kernel_and<kRow, Args, more, softmax_16x8>("deuteron::softmax_16x8.out", kInPlace);

}  // namespace deuteron

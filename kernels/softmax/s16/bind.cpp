// SPDX-License-Identifier: Apache-2.0
// deuteron::softmax_s16: its arguments checked once, at load. Rows are those of the last dimension.
#include "kernels/common/kernels.h"
#include "kernels/common/row.h"
#include "kernels/softmax/differences.h"
#include "kernels/softmax/rows.h"
#include "kernels/softmax/s16/kernel.h"

namespace deuteron {

namespace {

using Args = SoftmaxArgs;
constexpr Argument kRow[] = {input(Is::s16_rows), number(Is::factor, DEUTERON_FIELD(multiplier)),
                             number(Is::bits_31, DEUTERON_FIELD(shift)),
                             number(Is::not_positive, DEUTERON_FIELD(diff_min)),
                             output(Is::s16_like)};

bool more(const Call& call, Args& a, Status* why) {
  constexpr int kDiffMin = 3;
  return keeps_differences(a, 65535, kDiffMin, why) &&
         read_rows(call.tensor(0), 1 << 16, "must have 1..65536 elements in a row", &a.rows,
                   &a.columns, why);
}

}  // namespace

const Kernel kSoftmaxS16 =
    kernel_and<kRow, Args, more, softmax_s16>("deuteron::softmax_s16.out", kInPlace);

}  // namespace deuteron

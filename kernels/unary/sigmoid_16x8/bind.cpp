// SPDX-License-Identifier: Apache-2.0
// deuteron::sigmoid_16x8: its arguments checked once, at load.
#include "kernels/common/kernels.h"
#include "kernels/common/row.h"
#include "kernels/unary/sigmoid_16x8/kernel.h"

namespace deuteron {

DEUTERON_FIELDS(Sigmoid16x8Args, count, multiplier, shift)

namespace {

enum { kX, kTable, kMultiplier, kShift, kTanh };
using Args = Sigmoid16x8Args;
constexpr Argument kRow[] = {input(Is::s16, DEUTERON_FIELD(count)),
                             input(Is::s16_table),
                             number(Is::word, DEUTERON_FIELD(multiplier)),
                             number(Is::bits_31, DEUTERON_FIELD(shift)),
                             flag(),
                             output(Is::s16_like)};

Status prepare(Call& call, Prepared* prepared) {
  Sigmoid16x8Args a{};
  if (Status s = read_row(call, kRow, &a); !s.ok()) return s;
  if (call.tensor(kTable).numel != kSigmoid16x8Entries)
    return bad_argument(kTable, "must have 256 entries");
  if (call.boolean(kTanh)) return keep_row<kRow, tanh_16x8>(call, prepared, a);
  return keep_row<kRow, logistic_16x8>(call, prepared, a);
}

}  // namespace

const Kernel kSigmoid16x8 = kernel_by<kRow>("deuteron::sigmoid_16x8.out", prepare, kInPlace);

}  // namespace deuteron

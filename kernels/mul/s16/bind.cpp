// SPDX-License-Identifier: Apache-2.0
// deuteron::mul_s16: its arguments checked once, at load.
#include "kernels/common/kernels.h"
#include "kernels/common/operand_pair.h"
#include "kernels/common/row.h"
#include "kernels/mul/s16/kernel.h"

namespace deuteron {

DEUTERON_FIELDS(MulS16Args, count, period, multiplier, shift, y_min, y_max)

namespace {

enum { kX, kOther };
using Args = MulS16Args;
constexpr Argument kRow[] = {input(Is::s16),
                             input(Is::s16),
                             number(Is::factor, DEUTERON_FIELD(multiplier)),
                             number(Is::bits_30, DEUTERON_FIELD(shift)),
                             number(Is::wide_step, DEUTERON_FIELD(y_min)),
                             number(Is::wide_step_max, DEUTERON_FIELD(y_max)),
                             output(Is::s16)};

Status prepare(Call& call, Prepared* prepared) {
  constexpr int kOut = last_of(kRow);
  OperandPair pair;
  MulS16Args a{};
  if (Status s = read_row(call, kRow, &a); !s.ok()) return s;
  if (Status s = meet(call, kX, kOther, kOut, &pair); !s.ok()) return s;
  a.count = pair.count, a.period = pair.period;
  return keep_pair<int16_t, mul_s16, mul_s16_mve>(call, prepared, a, pair, kX, kOther, kOut);
}

}  // namespace

const Kernel kMulS16 = kernel_by<kRow>("deuteron::mul_s16.out", prepare, kInPlace);

}  // namespace deuteron

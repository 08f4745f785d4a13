// SPDX-License-Identifier: Apache-2.0
// cortex_m::quantized_mul: its arguments checked once, at load.
#include "kernels/common/kernels.h"
#include "kernels/common/operand_pair.h"
#include "kernels/common/row.h"
#include "kernels/mul/kernel.h"
#include "runtime/instruction_set.h"

namespace deuteron {

DEUTERON_FIELDS(MulArgs, count, period, x_zero, other_zero, y_zero, multiplier, shift)

namespace {

enum { kX, kXZero, kOther };
using Args = MulArgs;
constexpr Argument kRow[] = {input(Is::s8),
                             number(Is::wide_step, DEUTERON_FIELD(x_zero)),
                             input(Is::s8),
                             number(Is::wide_step, DEUTERON_FIELD(other_zero)),
                             number(Is::wide_step, DEUTERON_FIELD(y_zero)),
                             number(Is::multiplier, DEUTERON_FIELD(multiplier)),
                             number(Is::shift, DEUTERON_FIELD(shift)),
                             output(Is::s8)};

Status prepare(Call& call, Prepared* prepared) {
  constexpr int kOut = last_of(kRow);
  OperandPair pair;
  MulArgs a{};
  if (Status s = read_row(call, kRow, &a); !s.ok()) return s;
  if (Status s = meet(call, kX, kOther, kOut, &pair); !s.ok()) return s;
  a.count = pair.count, a.period = pair.period;
  if (pair.swapped) std::swap(a.x_zero, a.other_zero);
  if (serves<Feature::mve, why_not_mul_mve>(call, a))
    return keep_pair<int8_t, mul_s8, mul_s8_mve>(call, prepared, a, pair, kX, kOther, kOut);
  if (serves<Feature::dsp, why_not_mul_words>(call, a))
    return keep_pair<int8_t, mul_s8, mul_s8, mul_s8_dsp>(call, prepared, a, pair, kX, kOther, kOut);
  if (serves<Feature::scalar, why_not_mul_words>(call, a))
    return keep_pair<int8_t, mul_s8, mul_s8, mul_s8, mul_s8_scalar>(call, prepared, a, pair, kX,
                                                                    kOther, kOut);
  return keep_pair<int8_t, mul_s8>(call, prepared, a, pair, kX, kOther, kOut);
}

}  // namespace

const Kernel kQuantizedMul = kernel_by<kRow>("cortex_m::quantized_mul.out", prepare, kInPlace);

}  // namespace deuteron

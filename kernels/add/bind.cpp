// SPDX-License-Identifier: Apache-2.0
// cortex_m::quantized_add: its arguments checked once, at load.
#include "kernels/add/kernel.h"
#include "kernels/common/kernels.h"
#include "kernels/common/operand_pair.h"
#include "kernels/common/row.h"
#include "runtime/instruction_set.h"

namespace deuteron {

DEUTERON_FIELDS(Rescale, zero, multiplier, shift)

DEUTERON_FIELDS(AddArgs, count, period, x, other, y, y_min, y_max)

namespace {

enum { kX, kOther = 4 };
using Args = AddArgs;
constexpr Argument kRow[] = {input(Is::s8),
                             number(Is::step, DEUTERON_FIELD(x.zero)),
                             number(Is::multiplier, DEUTERON_FIELD(x.multiplier)),
                             number(Is::shift, DEUTERON_FIELD(x.shift)),
                             input(Is::s8),
                             number(Is::step, DEUTERON_FIELD(other.zero)),
                             number(Is::multiplier, DEUTERON_FIELD(other.multiplier)),
                             number(Is::shift, DEUTERON_FIELD(other.shift)),
                             number(Is::step, DEUTERON_FIELD(y.zero)),
                             number(Is::multiplier, DEUTERON_FIELD(y.multiplier)),
                             number(Is::shift, DEUTERON_FIELD(y.shift)),
                             number(Is::step, DEUTERON_FIELD(y_min)),
                             number(Is::step_max, DEUTERON_FIELD(y_max)),
                             output(Is::s8)};

Status prepare(Call& call, Prepared* prepared) {
  constexpr int kOut = last_of(kRow);
  OperandPair pair;
  AddArgs a{};
  if (Status s = read_row(call, kRow, &a); !s.ok()) return s;
  if (Status s = meet(call, kX, kOther, kOut, &pair); !s.ok()) return s;
  a.count = pair.count, a.period = pair.period;
  if (pair.swapped) std::swap(a.x, a.other);
  if (serves<Feature::mve, why_not_add_mve>(call, a))
    return keep_pair<int8_t, add_s8, add_s8_mve>(call, prepared, a, pair, kX, kOther, kOut);
  if (serves<Feature::dsp, why_not_add_dsp>(call, a))
    return keep_pair<int8_t, add_s8, add_s8, add_s8_dsp>(call, prepared, a, pair, kX, kOther, kOut);
  if (serves<Feature::scalar, why_not_add_scalar>(call, a))
    return keep_pair<int8_t, add_s8, add_s8, add_s8, add_s8_scalar>(call, prepared, a, pair, kX,
                                                                    kOther, kOut);
  return keep_pair<int8_t, add_s8>(call, prepared, a, pair, kX, kOther, kOut);
}

}  // namespace

const Kernel kQuantizedAdd = kernel_by<kRow>("cortex_m::quantized_add.out", prepare, kInPlace);

}  // namespace deuteron

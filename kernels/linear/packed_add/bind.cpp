// SPDX-License-Identifier: Apache-2.0
// deuteron::linear_add and deuteron::linear_add.q21: their arguments checked once, at load.
#include "kernels/common/kernels.h"
#include "kernels/common/operand_pair.h"
#include "kernels/common/row.h"
#include "kernels/linear/packed_add/fields.h"
#include "kernels/linear/packed_add/kernel.h"

namespace deuteron {

namespace {

enum { kX, kOther };
using Args = LinearAddArgs;
constexpr Argument kRow[] = {input(Is::s8),
                             input(Is::s8),
                             number(Is::int32, DEUTERON_FIELD(x_factor)),
                             number(Is::int32, DEUTERON_FIELD(other_factor)),
                             number(Is::int32, DEUTERON_FIELD(first)),
                             output(Is::s8)};

template <auto... kernels>
Status prepare(Call& call, Prepared* prepared) {
  constexpr int kOut = last_of(kRow);
  OperandPair pair;
  LinearAddArgs a{};
  if (Status s = read_row(call, kRow, &a); !s.ok()) return s;
  if (Status s = meet(call, kX, kOther, kOut, &pair); !s.ok()) return s;
  a.count = pair.count, a.period = pair.period;
  if (pair.swapped) std::swap(a.x_factor, a.other_factor);
  return keep_pair<int8_t, kernels...>(call, prepared, a, pair, kX, kOther, kOut);
}

}  // namespace

const Kernel kLinearAdd = kernel_by<kRow>(
    "deuteron::linear_add.out",
    prepare<linear_add_s8, linear_add_s8_mve, linear_add_s8_dsp, linear_add_s8_scalar>, kInPlace);
const Kernel kLinearAddQ21 =
    kernel_by<kRow>("deuteron::linear_add.q21",
                    prepare<linear_add_q21_s8, linear_add_q21_s8_mve, linear_add_q21_s8_dsp,
                            linear_add_q21_s8_scalar>,
                    kInPlace);

}  // namespace deuteron

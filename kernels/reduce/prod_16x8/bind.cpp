// SPDX-License-Identifier: Apache-2.0
// deuteron::prod_16x8: its arguments checked once, at load. Both tensors are met in the order in
// which they lie in memory.
#include "kernels/common/kernels.h"
#include "kernels/common/row.h"
#include "kernels/reduce/prod_16x8/kernel.h"
#include "kernels/reduce/slices.h"

namespace deuteron {

DEUTERON_FIELDS(Prod16x8Args, outer, slice, inner, multiplier, shift)

namespace {

using Args = Prod16x8Args;
constexpr Argument kRow[] = {input(Is::s16), number(Is::any),
                             number(Is::factor, DEUTERON_FIELD(multiplier)),
                             number(Is::shift_to_14, DEUTERON_FIELD(shift)), output(Is::s16)};

bool more(const Call& call, Args& a, Status* why) {
  return read_slices(call, last_of(kRow), a, why);
}

}  // namespace

const Kernel kProd16x8 = kernel_and<kRow, Args, more, prod_16x8>("deuteron::prod_16x8.out");

}  // namespace deuteron

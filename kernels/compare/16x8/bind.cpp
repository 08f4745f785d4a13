// SPDX-License-Identifier: Apache-2.0
// deuteron::compared_16x8: its arguments checked once, at load.
#include "kernels/common/kernels.h"
#include "kernels/common/row.h"
#include "kernels/compare/16x8/kernel.h"

namespace deuteron {

DEUTERON_FIELDS(Compared16x8Args, count, multiplier, shift)

namespace {

using Args = Compared16x8Args;
constexpr Argument kRow[] = {input(Is::s16, DEUTERON_FIELD(count)),
                             number(Is::factor, DEUTERON_FIELD(multiplier)),
                             number(Is::shift_right, DEUTERON_FIELD(shift)), output(Is::s32_like)};

}  // namespace

const Kernel kCompared16x8 =
    kernel_of<kRow, Args, compared_16x8>("deuteron::compared_16x8.out", kInPlace);

}  // namespace deuteron

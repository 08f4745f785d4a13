// SPDX-License-Identifier: Apache-2.0
// deuteron::rescale_16x8: its arguments checked once, at load. The tensors' types say which kernel
// it is.
#include "kernels/common/kernels.h"
#include "kernels/common/row.h"
#include "kernels/requantize/16x8/kernel.h"

namespace deuteron {

DEUTERON_FIELDS(Rescale16x8Args, count, x_zero, multiplier, shift, below_multiplier, below_shift,
                y_zero, y_min, y_max)

namespace {

using Args = Rescale16x8Args;
template <Is x, Is x_zero, Is y, Is y_zero, Is y_min, Is y_max>
constexpr Argument kRowOf[] = {input(x, DEUTERON_FIELD(count)),
                               number(x_zero, DEUTERON_FIELD(x_zero)),
                               number(Is::multiplier, DEUTERON_FIELD(multiplier)),
                               number(Is::shift, DEUTERON_FIELD(shift)),
                               number(Is::multiplier, DEUTERON_FIELD(below_multiplier)),
                               number(Is::shift, DEUTERON_FIELD(below_shift)),
                               number(y_zero, DEUTERON_FIELD(y_zero)),
                               number(y_min, DEUTERON_FIELD(y_min)),
                               number(y_max, DEUTERON_FIELD(y_max)),
                               output(y)};
constexpr const auto& kRow =
    kRowOf<Is::s16, Is::wide_step, Is::s16_like, Is::zero, Is::wide_step, Is::wide_step_max>;
constexpr const auto& kFromS8 =
    kRowOf<Is::s8, Is::step, Is::s16_like, Is::zero, Is::wide_step, Is::wide_step_max>;
constexpr const auto& kToS8 =
    kRowOf<Is::s16, Is::wide_step, Is::s8_like, Is::step, Is::step, Is::step_max>;

template <const auto& row, auto kernel>
Status prepare_as(Call& call, Prepared* prepared) {
  Args a{};
  if (Status s = read_row(call, row, &a); !s.ok()) return s;
  return keep_row<row, kernel>(call, prepared, a);
}
Status prepare(Call& call, Prepared* prepared) {
  if (call.tensor(last_of(kRow)).type == ScalarType::s8)
    return prepare_as<kToS8, rescale_16x8_to_s8>(call, prepared);
  if (call.tensor(0).type == ScalarType::s8)
    return prepare_as<kFromS8, rescale_s8_to_16x8>(call, prepared);
  return prepare_as<kRow, rescale_16x8>(call, prepared);
}

}  // namespace

const Kernel kRescale16x8 = kernel_by<kRow>("deuteron::rescale_16x8.out", prepare, kInPlace);

}  // namespace deuteron

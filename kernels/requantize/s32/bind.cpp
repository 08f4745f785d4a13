// SPDX-License-Identifier: Apache-2.0
// deuteron::rescale_s32: its arguments checked once, at load. The tensors' types say which kernel
// it is.
#include "kernels/common/kernels.h"
#include "kernels/common/row.h"
#include "kernels/requantize/s32/kernel.h"

namespace deuteron {

DEUTERON_FIELDS(RescaleS32Args, count, x_zero, multiplier, shift, y_zero)

namespace {

using Args = RescaleS32Args;
template <Is x, Is x_zero, Is y, Is y_zero>
constexpr Argument kRowOf[] = {input(x, DEUTERON_FIELD(count)),
                               number(x_zero, DEUTERON_FIELD(x_zero)),
                               number(Is::factor, DEUTERON_FIELD(multiplier)),
                               number(Is::shift, DEUTERON_FIELD(shift)),
                               number(y_zero, DEUTERON_FIELD(y_zero)),
                               output(y)};
constexpr const auto& kFromS8 = kRowOf<Is::s8, Is::step, Is::s32_like, Is::zero>;
constexpr const auto& kFromS16 = kRowOf<Is::s16, Is::wide_step, Is::s32_like, Is::zero>;
constexpr const auto& kToS8 = kRowOf<Is::s32, Is::zero, Is::s8_like, Is::step>;
constexpr const auto& kToS16 = kRowOf<Is::s32, Is::zero, Is::s16_like, Is::zero>;

template <const auto& row, auto kernel>
Status prepare_as(Call& call, Prepared* prepared) {
  Args a{};
  if (Status s = read_row(call, row, &a); !s.ok()) return s;
  return keep_row<row, kernel>(call, prepared, a);
}
Status prepare(Call& call, Prepared* prepared) {
  constexpr int kX = 0, kOut = last_of(kFromS8);
  bool wide = false;
  if (read_width(call, kOut, &wide).ok())
    return wide ? prepare_as<kToS16, rescale_s32_to_s16>(call, prepared)
                : prepare_as<kToS8, rescale_s32_to_s8>(call, prepared);
  if (Status s = read_width(call, kX, &wide); !s.ok()) return s;
  return wide ? prepare_as<kFromS16, rescale_s16_to_s32>(call, prepared)
              : prepare_as<kFromS8, rescale_s8_to_s32>(call, prepared);
}

}  // namespace

const Kernel kRescaleS32 = kernel_by<kFromS8>("deuteron::rescale_s32.out", prepare);

}  // namespace deuteron

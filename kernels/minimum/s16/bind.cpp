// SPDX-License-Identifier: Apache-2.0
// deuteron::minimum_s16 and deuteron::maximum_s16: their arguments checked once, at load.
#include "kernels/common/kernels.h"
#include "kernels/common/prepare_s16.h"
#include "kernels/minimum/prepare.h"
#include "kernels/minimum/s16/kernel.h"

namespace deuteron {
namespace {

template <auto kernel>
Status prepare(Call& call, Prepared* prepared) {
  for (const int i : {kExtremumX, kExtremumOther, kExtremumOut})
    if (const char* why = why_not_s16(call.tensor(i))) return bad_argument(i, why);
  ExtremumArgs a{};
  if (Status s = read_extremum_layouts(call, a); !s.ok()) return s;
  if (call.tensor(kExtremumOut).numel == 0) return keep_nothing(prepared);
  return keep<kernel>(call, prepared, a, static_cast<const int16_t*>(call.tensor(kExtremumX).data),
                      static_cast<const int16_t*>(call.tensor(kExtremumOther).data),
                      static_cast<int16_t*>(call.tensor(kExtremumOut).data));
}

}  // namespace

const Kernel kMinimumS16 = {"deuteron::minimum_s16.out", "TTO", prepare<minimum_s16>, true};
const Kernel kMaximumS16 = {"deuteron::maximum_s16.out", "TTO", prepare<maximum_s16>, true};

}  // namespace deuteron

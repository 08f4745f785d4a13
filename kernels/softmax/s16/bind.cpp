// SPDX-License-Identifier: Apache-2.0
// deuteron::softmax_s16: its arguments checked once, at load. Rows are those of the last dimension.
#include "kernels/common/kernels.h"
#include "kernels/common/prepare_s16.h"
#include "kernels/softmax/fields.h"
#include "kernels/softmax/s16/kernel.h"

namespace deuteron {
namespace {

enum { kX, kMultiplier, kShift, kDiffMin, kOut };

Status prepare(Call& call, Prepared* prepared) {
  const Tensor &x = call.tensor(kX), &y = call.tensor(kOut);
  int32_t columns;
  if (Status s = why_not_rows_s16(call, kX, kOut, &columns); !s.ok()) return s;
  if (!lies_in(call.integer(kMultiplier), 0, INT32_MAX))
    return bad_argument(kMultiplier, "is out of range");
  if (!lies_in(call.integer(kShift), 0, 31)) return bad_argument(kShift, "must be 0..31");
  if (!lies_in(call.integer(kDiffMin), INT32_MIN, 0))
    return bad_argument(kDiffMin, "must not be positive");
  const int64_t largest = call.integer(kDiffMin) > -65535 ? -call.integer(kDiffMin) : 65535;
  if (largest << call.integer(kShift) > int64_t{1} << 31)
    return bad_argument(kDiffMin, "must keep differences within int32");
  const SoftmaxArgs a{x.numel / columns, columns, static_cast<int32_t>(call.integer(kMultiplier)),
                      static_cast<int32_t>(call.integer(kShift)),
                      static_cast<int32_t>(call.integer(kDiffMin))};
  return keep<softmax_s16>(call, prepared, a, static_cast<const int16_t*>(x.data),
                           static_cast<int16_t*>(y.data));
}

}  // namespace

const Kernel kSoftmaxS16 = {"deuteron::softmax_s16.out", "TIIIO", prepare, true};

}  // namespace deuteron

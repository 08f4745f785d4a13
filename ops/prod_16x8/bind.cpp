// deuteron::prod_16x8: its arguments checked once, at load. Both tensors are met in the order in which they lie in memory.
#include "ops/device/kernels.h"
#include "ops/device/prepare_s16.h"
#include "ops/prod_16x8/kernel.h"

namespace deuteron {

DEUTERON_FIELDS(Prod16x8Args, outer, slice, inner, multiplier, shift)

namespace {

enum { kX, kInner, kMultiplier, kShift, kOut };

Status prepare(Call& call, Prepared* prepared) {
  const Tensor &x = call.tensor(kX), &y = call.tensor(kOut);
  for (const int i : {int{kX}, int{kOut}})
    if (const char* why = why_not_s16(call.tensor(i))) return bad_argument(i, why);
  if (!lies_in(call.integer(kMultiplier), 0, INT32_MAX)) return bad_argument(kMultiplier, "is out of range");
  if (!lies_in(call.integer(kShift), -31, 14)) return bad_argument(kShift, "must be -31..14");
  if (y.numel == 0) return keep_nothing(prepared);
  SlicesS16 slices;
  if (Status s = read_slices_s16(call, kX, kInner, kOut, &slices); !s.ok()) return s;
  const Prod16x8Args a{slices.outer, slices.slice, slices.inner, static_cast<int32_t>(call.integer(kMultiplier)),
                       static_cast<int32_t>(call.integer(kShift))};
  return keep<prod_16x8>(call, prepared, a, static_cast<const int16_t*>(x.data), static_cast<int16_t*>(y.data));
}

}  // namespace

const Kernel kProd16x8 = {"deuteron::prod_16x8.out", "TIIIO", prepare};

}  // namespace deuteron

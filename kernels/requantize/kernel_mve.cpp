// SPDX-License-Identifier: Apache-2.0
// Between int8 and int16 with the M-profile Vector Extension: eight elements at a time. VQRDMULH is
// (t * factor + 2^14) >> 15 for factors that are not negative, VQRSHL shifts to either side.
#include <arm_mve.h>

#include "kernels/requantize/kernel.h"

namespace deuteron {
namespace {

struct RequantizeBounds {
  int16x8_t low, high;
  explicit RequantizeBounds(const RequantizeArgs& a)
      : low(vdupq_n_s16(static_cast<int16_t>(a.y_min))),
        high(vdupq_n_s16(static_cast<int16_t>(a.y_max))) {}
  int16x8_t operator()(const RequantizeArgs& a, int16x8_t t) const {
    const int16x8_t v = vqrshlq_n_s16(vqrdmulhq_n_s16(t, static_cast<int16_t>(a.factor)), a.shift);
    return vminq_s16(vmaxq_s16(vqaddq_n_s16(v, static_cast<int16_t>(a.y_zero)), low), high);
  }
};

}  // namespace

void requantize_s8_mve(const RequantizeArgs& args, const int16_t* x, int8_t* y) {
  const RequantizeArgs a = args;  // for all the compiler knows, y might lie over the arguments
  const RequantizeBounds bounded(a);
  for (int32_t i = a.count / 8; i > 0; --i, x += 8, y += 8)
    vstrbq_s16(y, bounded(a, vldrhq_s16(x)));
  if (const int32_t rest = a.count % 8; rest > 0) {
    const mve_pred16_t here = vctp16q(static_cast<uint32_t>(rest));
    vstrbq_p_s16(y, bounded(a, vldrhq_z_s16(x, here)), here);
  }
}

void requantize_s16_mve(const RequantizeArgs& args, const int8_t* x, int16_t* y) {
  constexpr int kBits = 7;
  static_assert(1 << kBits == kRequantizeSteps);
  const RequantizeArgs a = args;
  const RequantizeBounds bounded(a);
  const auto zero = static_cast<int16_t>(a.x_zero);
  for (int32_t i = a.count / 8; i > 0; --i, x += 8, y += 8)
    vstrhq_s16(y, bounded(a, vshlq_n_s16(vsubq_n_s16(vldrbq_s16(x), zero), kBits)));
  if (const int32_t rest = a.count % 8; rest > 0) {
    const mve_pred16_t here = vctp16q(static_cast<uint32_t>(rest));
    vstrhq_p_s16(y, bounded(a, vshlq_n_s16(vsubq_n_s16(vldrbq_z_s16(x, here), zero), kBits)), here);
  }
}

}  // namespace deuteron

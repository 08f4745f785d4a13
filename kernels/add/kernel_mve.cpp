// SPDX-License-Identifier: Apache-2.0
// Addition with the M-profile Vector Extension, four elements at a time.
#include "kernels/add/kernel.h"
#include "kernels/integer/requantize_mve.h"

namespace deuteron {
namespace {

constexpr int32_t kLeft = 1 << 20;

// (v - zero) * 2^20, rescaled; `is_shifted`: its shift is not 0.
template <bool is_shifted>
int32x4_t rescale(int32x4_t v, int32x4_t left, const Rescale& r) {
  const int32x4_t wide = vmlasq_n_s32(v, left, -r.zero * kLeft);
  return is_shifted ? requantize_mve_below(wide, r.multiplier, r.shift)
                    : vqrdmulhq_n_s32(wide, r.multiplier);
}

// The arguments by value: for all the compiler knows, y might lie over them.
template <bool is_x_shifted, bool is_other_shifted>
void add(const AddArgs a, const int8_t* x, const int8_t* other, int8_t* y) {
  const int32x4_t left = vdupq_n_s32(kLeft), low = vdupq_n_s32(a.y_min),
                  high = vdupq_n_s32(a.y_max);
  const auto sum = [&](int32x4_t u, int32x4_t v) {
    const int32x4_t s =
        vaddq_s32(rescale<is_x_shifted>(u, left, a.x), rescale<is_other_shifted>(v, left, a.other));
    return vminq_s32(
        vmaxq_s32(vaddq_n_s32(requantize_mve_below(s, a.y.multiplier, a.y.shift), a.y.zero), low),
        high);
  };
  for (int32_t done = 0; done < a.count; done += a.period) {
    const int8_t* from = other;
    for (int32_t i = a.period / 4; i > 0; --i, x += 4, from += 4, y += 4)
      vstrbq_s32(y, sum(vldrbq_s32(x), vldrbq_s32(from)));
    const int32_t rest = a.period % 4;
    if (rest == 0) continue;
    const mve_pred16_t here = vctp32q(static_cast<uint32_t>(rest));
    vstrbq_p_s32(y, sum(vldrbq_z_s32(x, here), vldrbq_z_s32(from, here)), here);
    x += rest, y += rest;
  }
}

}  // namespace

void add_s8_mve(const AddArgs& a, const int8_t* x, const int8_t* other, int8_t* y) {
  if (a.x.shift != 0)
    return (a.other.shift != 0 ? add<true, true> : add<true, false>)(a, x, other, y);
  return (a.other.shift != 0 ? add<false, true> : add<false, false>)(a, x, other, y);
}

}  // namespace deuteron

// SPDX-License-Identifier: Apache-2.0
// Eight channels of a depthwise convolution with int16 results, for the M-profile Vector Extension.
// Sums of channels with even and with odd places lie apart.
#pragma once
#include <arm_mve.h>

#include <cstdint>

namespace deuteron {

inline constexpr int32_t kS16Channels = 8;

// What there is for eight channels, or for the last ones.
struct Channels {
  mve_pred16_t here;
  int32x4_t first[2], multiplier[2];  // of even channels, of odd ones
};
inline Channels channels_of(const int32_t* first, const int32_t* multiplier, int32_t left) {
  const uint32x4_t even = vmulq_n_u32(vidupq_n_u32(0, 1), 8), odd = vaddq_n_u32(even, 4);  // bytes
  const auto count = static_cast<uint32_t>(left);
  const mve_pred16_t of_even = vctp32q((count + 1) / 2), of_odd = vctp32q(count / 2);
  return {vctp16q(count),
          {vldrwq_gather_offset_z_s32(first, even, of_even),
           vldrwq_gather_offset_z_s32(first, odd, of_odd)},
          {vldrwq_gather_offset_z_s32(multiplier, even, of_even),
           vldrwq_gather_offset_z_s32(multiplier, odd, of_odd)}};
}

struct Sums {
  int32x4_t even, odd;
  void add(int16x8_t x, int16x8_t w) {
    even = vaddq_s32(even, vmullbq_int_s16(x, w));
    odd = vaddq_s32(odd, vmulltq_int_s16(x, w));
  }
};

// Sums of eight channels -> their results.
inline int16x8_t finish(int32x4_t low, int32x4_t high, const Channels& c, const Sums& s) {
  const int32x4_t even = vminq_s32(vmaxq_s32(vqrdmulhq_s32(s.even, c.multiplier[0]), low), high);
  const int32x4_t odd = vminq_s32(vmaxq_s32(vqrdmulhq_s32(s.odd, c.multiplier[1]), low), high);
  return vmovntq_s32(vreinterpretq_s16_s32(even), odd);
}

}  // namespace deuteron

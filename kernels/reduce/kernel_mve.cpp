// SPDX-License-Identifier: Apache-2.0
// Sums of slices with the M-profile Vector Extension: 16 neighbours at a time, in int16 as long as
// they fit; a row of its own across lanes.
#include <arm_mve.h>

#include "kernels/common/one_copy.h"
#include "kernels/integer/requantize_mve.h"
#include "kernels/reduce/kernel.h"

namespace deuteron {
namespace {

constexpr int32_t kSumNeighbours = 16;
constexpr int32_t kSumRowsAtOnce = 255;  // sums of so many int8 fit int16

// What becomes of four sums, still as int32.
inline int32x4_t sum_results_mve(const SumArgs& a, int32x4_t sums) {
  const int32x4_t v = requantize_mve(vsubq_n_s32(sums, a.slice * a.x_zero),
                                     vdupq_n_s32(a.multiplier), vdupq_n_s32(a.shift));
  return vminq_s32(vmaxq_s32(vaddq_n_s32(v, a.y_zero), vdupq_n_s32(a.low)), vdupq_n_s32(a.high));
}

DEUTERON_ONE_COPY void sum_block_mve(const SumArgs& a, const int8_t* x, int32_t count, int8_t* y) {
  const mve_pred16_t first = vctp16q(static_cast<uint32_t>(count)),
                     second = vctp16q(static_cast<uint32_t>(
                         count > kSumNeighbours / 2 ? count - kSumNeighbours / 2 : 0));
  int32x4x2_t sums[2];  // of each half: its even elements, its odd ones
  for (int32x4x2_t& half : sums) half = {{vdupq_n_s32(0), vdupq_n_s32(0)}};
  for (int32_t done = 0; done < a.slice; done += kSumRowsAtOnce) {
    int16x8_t halves[2] = {vdupq_n_s16(0), vdupq_n_s16(0)};
    for (int32_t k = a.slice - done < kSumRowsAtOnce ? a.slice - done : kSumRowsAtOnce; k > 0;
         --k, x += a.inner) {
      halves[0] = vaddq_s16(halves[0], vldrbq_z_s16(x, first));
      halves[1] = vaddq_s16(halves[1], vldrbq_z_s16(x + kSumNeighbours / 2, second));
    }
    for (int h = 0; h < 2; ++h) {
      sums[h].val[0] = vaddq_s32(sums[h].val[0], vmovlbq_s16(halves[h]));
      sums[h].val[1] = vaddq_s32(sums[h].val[1], vmovltq_s16(halves[h]));
    }
  }
  for (int h = 0; h < 2; ++h) {
    const int16x8_t low = vmovnbq_s32(vdupq_n_s16(0), sum_results_mve(a, sums[h].val[0]));
    vstrbq_p_s16(y + h * (kSumNeighbours / 2), vmovntq_s32(low, sum_results_mve(a, sums[h].val[1])),
                 h == 0 ? first : second);
  }
}

DEUTERON_ONE_COPY void sum_row_mve(const SumArgs& a, const int8_t* x, int8_t* y) {
  int32_t sum = 0;
  int32_t left = a.slice;
  for (; left >= kSumNeighbours; left -= kSumNeighbours, x += kSumNeighbours)
    sum = vaddvaq_s8(sum, vldrbq_s8(x));
  if (left > 0) {
    const mve_pred16_t here = vctp8q(static_cast<uint32_t>(left));
    sum = vaddvaq_p_s8(sum, vldrbq_z_s8(x, here), here);
  }
  *y = static_cast<int8_t>(vgetq_lane_s32(sum_results_mve(a, vdupq_n_s32(sum)), 0));
}

}  // namespace

void sum_s8_mve(const SumArgs& a, const int8_t* x, int8_t* y) {
  for (int32_t o = 0; o < a.outer; ++o, x += a.slice * a.inner, y += a.inner) {
    if (a.inner == 1) sum_row_mve(a, x, y);
    else
      for (int32_t i = 0; i < a.inner; i += kSumNeighbours)
        sum_block_mve(a, x + i, a.inner - i < kSumNeighbours ? a.inner - i : kSumNeighbours, y + i);
  }
}

}  // namespace deuteron

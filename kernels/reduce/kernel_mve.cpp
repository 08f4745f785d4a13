// SPDX-License-Identifier: Apache-2.0
// Sums of slices with the M-profile Vector Extension: eight neighbours at a time, in int16 as long
// as they fit; a row of its own across lanes.
#include <arm_mve.h>

#include "kernels/common/one_copy.h"
#include "kernels/integer/requantize_mve.h"
#include "kernels/reduce/kernel.h"

namespace deuteron {
namespace {

constexpr int32_t kSumNeighbours = 16;  // of a row
constexpr int32_t kSumLanes = 8;
constexpr int32_t kSumRowsAtOnce = 255;  // sums of so many int8 fit int16

// What becomes of four sums, still as int32.
inline int32x4_t sum_results_mve(const SumArgs& a, int32x4_t sums) {
  const int32x4_t v = requantize_mve(vsubq_n_s32(sums, a.slice * a.x_zero),
                                     vdupq_n_s32(a.multiplier), vdupq_n_s32(a.shift));
  return vminq_s32(vmaxq_s32(vaddq_n_s32(v, a.y_zero), vdupq_n_s32(a.low)), vdupq_n_s32(a.high));
}

// Of up to eight neighbours.
DEUTERON_ONE_COPY void sum_block_mve(const SumArgs& a, const int8_t* x, int32_t count, int8_t* y) {
  const mve_pred16_t here = vctp16q(static_cast<uint32_t>(count));
  int32x4_t even = vdupq_n_s32(0), odd = even;
  for (int32_t done = 0; done < a.slice; done += kSumRowsAtOnce) {
    int32_t k = a.slice - done < kSumRowsAtOnce ? a.slice - done : kSumRowsAtOnce;
    int16x8_t sums = vdupq_n_s16(0);
    if (count == kSumLanes)
      for (; k > 0; --k, x += a.inner) sums = vaddq_s16(sums, vldrbq_s16(x));
    else
      for (; k > 0; --k, x += a.inner) sums = vaddq_s16(sums, vldrbq_z_s16(x, here));
    even = vaddq_s32(even, vmovlbq_s16(sums)), odd = vaddq_s32(odd, vmovltq_s16(sums));
  }
  const int16x8_t low = vmovnbq_s32(vdupq_n_s16(0), sum_results_mve(a, even));
  vstrbq_p_s16(y, vmovntq_s32(low, sum_results_mve(a, odd)), here);
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
      for (int32_t i = 0; i < a.inner; i += kSumLanes)
        sum_block_mve(a, x + i, a.inner - i < kSumLanes ? a.inner - i : kSumLanes, y + i);
  }
}

}  // namespace deuteron

// SPDX-License-Identifier: Apache-2.0
// Minimum and maximum with the M-profile Vector Extension: 16 elements of a row at a time, if its
// operands lie in one piece or are one element.
#include <arm_mve.h>

#include "kernels/minimum/kernel.h"
#include "kernels/minimum/rows.h"

namespace deuteron {
namespace {

int8x16_t least(int8x16_t a, int8x16_t b) { return vminq_s8(a, b); }
int8x16_t most(int8x16_t a, int8x16_t b) { return vmaxq_s8(a, b); }

template <class F, int8x16_t (*pick)(int8x16_t, int8x16_t)>
void row(int32_t count, const int8_t* x, int32_t x_step, const int8_t* other, int32_t other_step,
         int8_t* y) {
  if (x_step > 1 || other_step > 1)
    return extremum_row(F{}, count, x, x_step, other, other_step, y);
  for (int32_t i = 0; i < count; i += 16) {
    const mve_pred16_t here = vctp8q(static_cast<uint32_t>(count - i));
    const int8x16_t u = x_step == 0 ? vdupq_n_s8(*x) : vld1q_z_s8(x + i, here);
    const int8x16_t v = other_step == 0 ? vdupq_n_s8(*other) : vld1q_z_s8(other + i, here);
    vst1q_p_s8(y + i, pick(u, v), here);
  }
}

}  // namespace

void minimum_s8_mve(const ExtremumArgs& a, const int8_t* x, const int8_t* other, int8_t* y) {
  extremum(row<Least, least>, a, x, other, y);
}
void maximum_s8_mve(const ExtremumArgs& a, const int8_t* x, const int8_t* other, int8_t* y) {
  extremum(row<Most, most>, a, x, other, y);
}

}  // namespace deuteron

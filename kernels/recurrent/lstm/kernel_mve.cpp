// SPDX-License-Identifier: Apache-2.0
// LSTM with the M-profile Vector Extension: four units at a time.
#include <arm_mve.h>

#include "kernels/integer/requantize_mve.h"
#include "kernels/recurrent/lstm/cells.h"
#include "kernels/recurrent/rows_mve.h"

namespace deuteron {
namespace {

// tanh of v, `bits` of which lie between two entries of the table: 7 of Q3.12, and 8 of its half.
[[gnu::noinline]] int32x4_t tanh_between(int32x4_t v, int32_t bits) {
  const auto u =
      vreinterpretq_u32_s32(vminq_s32(vabsq_s32(v), vdupq_n_s32((1 << 15) - (bits == 7 ? 1 : 0))));
  const uint32x4_t at = vshlq_r_u32(u, -bits);
  const auto entry = [](uint32x4_t k) {
    return vreinterpretq_s32_u32(vldrhq_gather_shifted_offset_u32(kTanhTable, k));
  };
  const int32x4_t low = entry(at), step = vsubq_s32(entry(vaddq_n_u32(at, 1)), low);
  const int32x4_t between = vreinterpretq_s32_u32(vbicq_u32(u, vshlq_r_u32(at, bits)));
  const int32x4_t t = vaddq_s32(low, vrshlq_n_s32(vmulq_s32(step, between), -bits));
  return vnegq_m_s32(t, t, vcmpltq_n_s32(v, 0));
}
int32x4_t sigmoid(const int32_t (&gate)[4]) {
  return vshrq_n_s32(vaddq_n_s32(tanh_between(vld1q_s32(gate), 8), 32769), 1);
}
int32x4_t saturated_s16(int32x4_t v) {
  return vminq_s32(vmaxq_s32(v, vdupq_n_s32(INT16_MIN)), vdupq_n_s32(INT16_MAX));
}

struct MveLstmUnits {
  static void update(const LstmArgs& a, const RecurrentStep<MveRows, int8_t>& s) {
    const int32_t left = a.layer.y_shift > 0 ? a.layer.y_shift : 0;
    for (int32_t j = 0; j < a.layer.units; j += 4) {
      int32_t gates[4][4];
      const int32_t count = a.layer.units - j < 4 ? a.layer.units - j : 4;
      for (int32_t k = 0; k < count; ++k) {
        int32_t of_unit[4];
        s.all(j + k, of_unit);
        for (int32_t g = 0; g < 4; ++g) gates[g][k] = of_unit[g];
      }
      const mve_pred16_t lanes = vctp32q(static_cast<uint32_t>(count));
      // Both products are at most 2^30, and their sum is below 2^31.
      const int32x4_t fresh = vmulq_s32(sigmoid(gates[0]), tanh_between(vld1q_s32(gates[2]), 7)),
                      kept = vmulq_s32(sigmoid(gates[1]), vldrhq_z_s32(a.cells + j, lanes));
      const int32x4_t c =
          saturated_s16(vrshrq_n_s32(vaddq_s32(kept, vshlq_r_s32(fresh, a.cell_bits - 15)), 15));
      vstrhq_p_s32(a.cells + j, c, lanes);
      const int32x4_t out = vmulq_s32(
          sigmoid(gates[3]), tanh_between(saturated_s16(vrshlq_n_s32(c, 12 - a.cell_bits)), 7));
      const int32x4_t y =
          vaddq_n_s32(requantize_mve(vshlq_r_s32(out, left), vdupq_n_s32(a.layer.y_multiplier),
                                     vdupq_n_s32(a.layer.y_shift - left)),
                      a.layer.y_zero);
      vstrbq_p_s32(s.h_new + j, vminq_s32(vmaxq_s32(y, vdupq_n_s32(-128)), vdupq_n_s32(127)),
                   lanes);
    }
  }
};

}  // namespace

void lstm_s8_mve(const LstmArgs& a) { run_lstm<MveRows, int8_t, MveLstmUnits>(a); }

}  // namespace deuteron

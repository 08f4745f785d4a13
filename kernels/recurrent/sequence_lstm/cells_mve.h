// SPDX-License-Identifier: Apache-2.0
// The cells of TFLite's LSTM with the M-profile Vector Extension, eight units at a time.
#pragma once
#include <arm_mve.h>

#include "kernels/integer/logistic_s16_mve.h"
#include "kernels/integer/requantize_mve.h"
#include "kernels/recurrent/sequence_lstm/kernel.h"

namespace deuteron {

struct MveCells {
  static constexpr int32_t kUnits = 8;

  // a * b / 2^n, which stays within 16 bits: a is 0..32767, and n is 15 or more.
  static int16x8_t product(int16x8_t a, int16x8_t b, int n) {
    const int16x8_t even = vmovnbq_s32(vdupq_n_s16(0), round_shift_mve(vmullbq_int_s16(a, b), -n));
    return vmovntq_s32(even, round_shift_mve(vmulltq_int_s16(a, b), -n));
  }

  // A sum of each gate, with its bias, in Q3.12: multiplier and shift `first` and those behind it.
  static int32x4_t part(const SequenceLstmArgs& a, const int32_t* bias,
                        const int32_t (&sums)[kLstmGates], int32_t first) {
    const uint32x4_t rows = vmulq_n_u32(vidupq_n_u32(0, 1), static_cast<uint32_t>(a.units));
    const int32x4_t v = vaddq_s32(vldrwq_gather_shifted_offset_s32(bias, rows), vld1q_s32(sums));
    const int32x4_t shift = vld1q_s32(a.shift + first), none = vdupq_n_s32(0);
    return requantize_mve(vshlq_s32(v, vmaxq_s32(shift, none)), vld1q_s32(a.multiplier + first),
                          vminq_s32(shift, none));
  }
  static void gates(const SequenceLstmArgs& a, int32_t j, const int32_t (&of_x)[kLstmGates],
                    const int32_t (&of_h)[kLstmGates], int16_t* gates) {
    const int32x4_t most = vdupq_n_s32(INT16_MAX), least = vdupq_n_s32(INT16_MIN);
    const int32x4_t of_input = vmaxq_s32(vminq_s32(part(a, a.bias + j, of_x, 0), most), least);
    const int32x4_t both = vqaddq_s32(part(a, a.recurrent_bias + j, of_h, kLstmGates), of_input);
    vstrhq_s32(gates, vmaxq_s32(vminq_s32(both, most), least));
  }

  static void update(const SequenceLstmArgs& a, const int16_t (&gates)[kUnits][kLstmGates],
                     int32_t count, int16_t* c, int8_t* h) {
    const mve_pred16_t here = vctp16q(static_cast<uint32_t>(count));
    const int16x8x4_t all = vld4q_s16(gates[0]);
    const int16x8_t i = logistic_q15_mve(all.val[0]), f = logistic_q15_mve(all.val[1]);
    const int16x8_t g = tanh_q15_mve(all.val[2], 3), before = vld1q_z_s16(c, here);
    int16x8_t cell = vqaddq_s16(product(f, before, 15), product(i, g, 30 - a.cell_bits));
    if (a.cell_clip > 0) {
      const auto clip = static_cast<int16_t>(a.cell_clip);
      cell =
          vmaxq_s16(vminq_s16(cell, vdupq_n_s16(clip)), vdupq_n_s16(static_cast<int16_t>(-clip)));
    }
    vst1q_p_s16(c, cell, here);
    const int16x8_t o = logistic_q15_mve(all.val[3]), t = tanh_q15_mve(cell, 15 - a.cell_bits);
    const int16x8_t even = vqmovnbq_s32(vdupq_n_s16(0), result(a, vmullbq_int_s16(o, t)));
    const int16x8_t y = vqmovntq_s32(even, result(a, vmulltq_int_s16(o, t)));
    vstrbq_p_s16(h, vmaxq_s16(vminq_s16(y, vdupq_n_s16(127)), vdupq_n_s16(-128)), here);
  }

 private:
  static int32x4_t result(const SequenceLstmArgs& a, int32x4_t v) {
    const int32_t left = a.y_shift > 0 ? a.y_shift : 0;
    v = requantize_mve(vshlq_r_s32(v, left), vdupq_n_s32(a.y_multiplier),
                       vdupq_n_s32(a.y_shift - left));
    return vaddq_n_s32(v, a.y_zero);
  }
};

}  // namespace deuteron

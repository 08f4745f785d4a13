// SPDX-License-Identifier: Apache-2.0
// int16 depthwise convolution with the M-profile Vector Extension: eight channels at all places,
// then the next eight. Sums of channels with even and with odd places lie apart.
#include "kernels/depthwise_conv2d/s16/channels_mve.h"
#include "kernels/depthwise_conv2d/s16/kernel.h"
#include "kernels/depthwise_conv2d/s16/pixels.h"

namespace deuteron {
namespace {

// A row of taps of eight channels: `columns` of them, at least 1, x_step and w_step bytes apart.
inline void add_row(Sums& s, const int16_t* x, const int16_t* w, int32_t columns, int32_t x_step,
                    int32_t w_step) {
  asm("dls lr, %[columns]\n"
      "1:\n"
      "vldrh.u16 q0, [%[x]]\n"
      "add %[x], %[x_step]\n"
      "vldrh.u16 q1, [%[w]]\n"
      "add %[w], %[w_step]\n"
      "vmullb.s16 q2, q0, q1\n"
      "vmullt.s16 q0, q0, q1\n"
      "vadd.i32 %q[even], %q[even], q2\n"
      "vadd.i32 %q[odd], %q[odd], q0\n"
      "le lr, 1b\n"
      : [even] "+w"(s.even), [odd] "+w"(s.odd), [x] "+r"(x), [w] "+r"(w)
      : [columns] "r"(columns), [x_step] "r"(x_step), [w_step] "r"(w_step)
      : "q0", "q1", "q2", "lr", "memory");
}
inline void add_row_of(mve_pred16_t here, Sums& s, const int16_t* x, const int16_t* w,
                       int32_t columns, int32_t x_step, int32_t w_step) {
  for (; columns > 0; --columns, x += x_step, w += w_step)
    s.add(vld1q_z_s16(x, here), vld1q_z_s16(w, here));
}

// ---- 3x3: no loop over taps, and the weights of eight channels side by side

constexpr int32_t kS16Side = 3;

inline bool is_three_by_three(const DepthwiseS16Args& a) {
  return a.kernel_h == kS16Side && a.kernel_w == kS16Side;
}

struct S16Nine {
  alignas(16) int16_t weight[kS16Side * kS16Side * kS16Channels];
  S16Nine(const int16_t* from, int32_t channels) {
    for (int32_t t = 0; t < kS16Side * kS16Side; ++t, from += channels)
      vst1q_s16(weight + t * kS16Channels, vldrhq_s16(from));
  }
};

// The same of two or three columns whose weights lie in `tap` side by side. Assembly, because gcc
// 12 keeps all loads alive and spills.
template <int32_t columns>
inline void add_few(Sums& s, const int16_t* x, const int16_t* tap, int32_t x_step) {
  static_assert(columns == 2 || columns == 3);
  asm("vldrh.u16 q0, [%[x]]\n"
      "add %[x], %[x_step]\n"
      "vldrh.u16 q1, [%[w]]\n"
      "vmullb.s16 q2, q0, q1\n"
      "vmullt.s16 q0, q0, q1\n"
      "vadd.i32 %q[even], %q[even], q2\n"
      "vldrh.u16 q1, [%[x]]\n"
      "vadd.i32 %q[odd], %q[odd], q0\n"
      "vldrh.u16 q2, [%[w], #16]\n"
      "vmullb.s16 q0, q1, q2\n"
      "vmullt.s16 q1, q1, q2\n"
      "vadd.i32 %q[even], %q[even], q0\n"
      "vadd.i32 %q[odd], %q[odd], q1\n"
      ".if %c[columns] == 3\n"
      "add %[x], %[x_step]\n"
      "vldrh.u16 q0, [%[x]]\n"
      "vldrh.u16 q1, [%[w], #32]\n"
      "vmullb.s16 q2, q0, q1\n"
      "vmullt.s16 q0, q0, q1\n"
      "vadd.i32 %q[even], %q[even], q2\n"
      "vadd.i32 %q[odd], %q[odd], q0\n"
      ".endif\n"
      : [even] "+w"(s.even), [odd] "+w"(s.odd), [x] "+r"(x)
      : [w] "r"(tap), [x_step] "r"(x_step), [columns] "i"(columns)
      : "q0", "q1", "q2", "memory");
}

// Neighbours of which so many rows and columns of the window lie inside. tap: the weights of the
// first one.
template <int32_t rows, int32_t columns>
inline void run_nine(const DepthwiseS16Args& a, const Channels& c, const DepthwisePlace& p,
                     int32_t count, const int16_t* tap, int16_t* to) {
  const int32x4_t low = vdupq_n_s32(a.y_min), high = vdupq_n_s32(a.y_max);
  const int32_t x_step = p.x_column * 2, x_row = p.x_row, next = a.stride_w * a.channels,
                channels = a.channels;
  const int16_t* x = p.x;
  for (; count > 0; --count, x += next, to += channels) {
    Sums s{c.first[0], c.first[1]};
    add_few<columns>(s, x, tap, x_step);
    add_few<columns>(s, x + x_row, tap + kS16Side * kS16Channels, x_step);
    if (rows == kS16Side)
      add_few<columns>(s, x + 2 * x_row, tap + 2 * kS16Side * kS16Channels, x_step);
    vst1q_s16(to, finish(low, high, c, s));
  }
}

// all: eight channels, so that none needs a predicate.
template <bool all>
inline void run_place(const DepthwiseS16Args& a, const Channels& c, const DepthwisePlace& p,
                      int16_t* to) {
  Sums s{c.first[0], c.first[1]};
  const int16_t *row = p.x, *taps = p.weight;
  if (p.columns > 0)
    for (int32_t h = p.rows; h > 0; --h, row += p.x_row, taps += p.weight_row) {
      if (all) add_row(s, row, taps, p.columns, p.x_column * 2, a.channels * 2);
      else add_row_of(c.here, s, row, taps, p.columns, p.x_column, a.channels);
    }
  const int16x8_t both = finish(vdupq_n_s32(a.y_min), vdupq_n_s32(a.y_max), c, s);
  if (all) vst1q_s16(to, both);
  else vst1q_p_s16(to, both, c.here);
}

// Places with one row or one column outside have loops of their own, corners are as other windows.
void run_three_by_three(const DepthwiseS16Args& a, const Channels& c, const int16_t* x,
                        const int16_t* weight, int16_t* y) {
  const S16Nine nine(weight, a.channels);
  const auto taps = [&](const DepthwisePlace& p) {
    return nine.weight + (p.weight - weight) / a.channels * kS16Channels;
  };
  const auto edge = [&](const DepthwisePlace& p, int16_t* to) {
    if (p.rows == kS16Side && p.columns == 2) run_nine<3, 2>(a, c, p, 1, taps(p), to);
    else run_place<true>(a, c, p, to);
  };
  each_run(a, x, weight, y, edge, [&](const DepthwisePlace& p, int32_t count, int16_t* to) {
    if (p.rows == kS16Side) return run_nine<3, 3>(a, c, p, count, taps(p), to);
    if (p.rows == 2) return run_nine<2, 3>(a, c, p, count, taps(p), to);
    for (int32_t i = 0; i < count; ++i) {
      DepthwisePlace one = p;
      one.x += i * a.stride_w * a.channels;
      run_place<true>(a, c, one, to + i * a.channels);
    }
  });
}

template <bool all>
void run(const DepthwiseS16Args& a, const Channels& c, const int16_t* x, const int16_t* weight,
         int16_t* y) {
  each_place(a, x, weight, y,
             [&](const DepthwisePlace& p, int16_t* to) { run_place<all>(a, c, p, to); });
}

}  // namespace

void depthwise_conv2d_s16_mve(const DepthwiseS16Args& a, const int16_t* x, const int16_t* weight,
                              const int32_t* first, const int32_t* multiplier, int16_t* y) {
  for (int32_t c = 0; c < a.channels; c += kS16Channels) {
    const int32_t left = a.channels - c;
    const Channels of = channels_of(first + c, multiplier + c, left);
    if (left >= kS16Channels && is_three_by_three(a))
      run_three_by_three(a, of, x + c, weight + c, y + c);
    else if (left >= kS16Channels) run<true>(a, of, x + c, weight + c, y + c);
    else run<false>(a, of, x + c, weight + c, y + c);
  }
}

}  // namespace deuteron

// SPDX-License-Identifier: Apache-2.0
// Convolution with the DSP extension: four windows at a time are widened to int16 and meet one
// filter after the other, or two windows two filters at a time where there is no room for four
// (kernels/dense/dot_dsp.h).
#include "kernels/conv2d/long_windows_dsp.h"
#include "kernels/conv2d/windows_dsp.h"

namespace deuteron {
namespace {

// of windows that may lie on the stack, where the scratch has no room
constexpr int32_t kStackElements = 2048;

void run_image(const DspWindows<int32_t>& c, DspDot& dot, int32_t first, int32_t filters,
               const int8_t* weight, const int32_t* bias, int8_t* y) {
  const Conv2dArgs& a = c.a;
  const int32_t windows = a.out_h * a.out_w;
  if (windows == 1 && c.in_one_piece && filters > 1 && c.length % 8 == 0 &&
      reinterpret_cast<uintptr_t>(weight) % 4 == 0) {
    deuteron_widen_dsp(c.image + c.channel, c.quads, c.windows, c.offset, 1);
    return run_tiles<deuteron_dot_1x2_dsp>(dot, a, first, filters, 2, weight, bias, {y, y, y, y});
  }
  DspPlace at{-a.pad_h, -a.pad_w};
  const int32_t behind = a.out_w * a.stride_w - a.pad_w;
  for (int32_t i = 0; i < windows; i += c.at_once) {
    DspPlace places[kWindowsAtOnce], last{};
    int8_t *out[kWindowsAtOnce], *last_out = nullptr;
    for (int32_t k = 0; k < kWindowsAtOnce; ++k) {
      const bool is_one = k < c.at_once && i + k < windows;  // else the one before once more
      if (is_one) last = at, last_out = y + (i + k) * a.out_c;
      places[k] = last, out[k] = last_out;
      if (!is_one) continue;
      at.iw += a.stride_w;
      if (at.iw == behind) at.iw = -a.pad_w, at.ih += a.stride_h;
    }
    widen_all(c, places);
    if (c.at_once == 4)
      run_tiles<deuteron_dot_4x1_dsp>(dot, a, first, filters, 1, weight, bias, out);
    else run_tiles<deuteron_dot_2x2_dsp>(dot, a, first, filters, 2, weight, bias, out);
  }
}

// What a call does with its windows, of which `at_once` fit into `windows`.
void run(const Conv2dArgs& a, const int8_t* x, const int8_t* weight, const int32_t* bias,
         int16_t* windows, int32_t at_once, DspFinish finish, int8_t* y,
         int32_t weight_offset = 0) {
  const int32_t length = a.kernel_h * a.kernel_w * a.kernel_c, groups = a.in_c / a.kernel_c,
                filters = a.out_c / groups;
  DspWindows<int32_t> c = windows_of(a, x, windows, at_once, a.x_offset, 0);
  const uint32_t more = static_cast<uint32_t>(weight_offset) & 0xffff;
  DspDot dot{windows, weight, c.quads,  c.rest,  length,  nullptr, nullptr,          nullptr,
             {},      0,      a.y_zero, a.y_min, a.y_max, finish,  more << 16 | more};
  for (int32_t n = 0; n < a.n;
       ++n, c.image += a.in_h * a.in_w * a.in_c, y += a.out_h * a.out_w * a.out_c)
    for (int32_t g = 0; g < groups; ++g) {
      c.channel = g * a.kernel_c;
      run_image(c, dot, g * filters, filters, weight, bias, y);
    }
}

[[gnu::noinline]] void run_on_stack(const Conv2dArgs& a, const int8_t* x, const int8_t* weight,
                                    const int32_t* bias, int32_t at_once, DspFinish finish,
                                    int8_t* y, int32_t weight_offset = 0) {
  alignas(4) int16_t windows[kStackElements];
  run(a, x, weight, bias, windows, at_once, finish, y, weight_offset);
}

// How the sums of a call become bytes. length * 383 * 128 must not reach 2^29, so that no sum
// leaves +-2^30; nor does 512 * 383 * 383, where weights have an offset.
DspFinish finish_of(const Conv2dArgs& a, int32_t length, const int32_t* bias) {
  constexpr int32_t kMostLength = 10000, kMostBias = 1 << 29;
  if (!a.has_shifts && !a.has_large_multipliers && a.y_min == -128 && a.y_max == 127)
    return kPlainSums;
  bool is_small = length <= kMostLength;
  for (int32_t i = 0; is_small && i < a.out_c; ++i)
    is_small = a.shift[i] <= 0 && (!bias || (bias[i] < kMostBias && bias[i] > -kMostBias));
  return is_small ? kSmallSums : kAnySums;
}

}  // namespace

void conv2d_s8_dsp(const Conv2dArgs& a, const int8_t* x, const int8_t* weight, const int32_t* bias,
                   void* scratch, int32_t scratch_bytes, int8_t* y) {
  const int32_t length = a.kernel_h * a.kernel_w * a.kernel_c,
                filters = a.out_c / (a.in_c / a.kernel_c);
  const int32_t window = (length + kDspQuad - 1) / kDspQuad * kDspQuad;  // elements
  const bool fits_temporary =
      a.kernel_c % kDspQuad == 0 || length <= kTemporary || windows_in_one_piece(a);
  if (length < kDspQuad || filters < 2 || !fits_temporary)
    return run_long_windows(a, x, weight, bias, y);
  const DspFinish finish = finish_of(a, length, bias);
  const int32_t room = reinterpret_cast<uintptr_t>(scratch) % 4 == 0 ? scratch_bytes / 2 : 0;
  if (room >= 4 * window) run(a, x, weight, bias, static_cast<int16_t*>(scratch), 4, finish, y);
  else if (4 * window <= kStackElements) run_on_stack(a, x, weight, bias, 4, finish, y);
  else if (room >= 2 * window)
    run(a, x, weight, bias, static_cast<int16_t*>(scratch), 2, finish, y);
  else if (2 * window <= kStackElements) run_on_stack(a, x, weight, bias, 2, finish, y);
  else run_long_windows(a, x, weight, bias, y);
}

void conv2d_s8_dsp_rows(const Conv2dArgs& a, const int8_t* x, const int8_t* weight,
                        const int32_t* bias, int32_t weight_offset, int8_t* y) {
  run_on_stack(a, x, weight, bias, 4, finish_of(a, a.kernel_c, bias), y, weight_offset);
}

}  // namespace deuteron

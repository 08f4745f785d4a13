// SPDX-License-Identifier: Apache-2.0
// Fully connected layer behind a relu with packed weights, for the DSP extension. The row is
// widened with its zero point taken out, which costs nothing (SXTAB16); then quads at its end that
// are zero need no weights.
#include "kernels/linear/packed/kernel.h"

#include "kernels/conv2d/packed/windows_dsp.h"
#include "kernels/integer/zeros_dsp.h"

namespace deuteron {
namespace {

constexpr uint32_t kReluOffset = 0x00800080;  // 128, in both halves

// Widens the quads of a row that are not left out, at least one, and says how many they are. What
// is left behind whole quads is one more.
int32_t widen_active(const PackedConv2dArgs& a, const int8_t* x, int16_t* window) {
  const int32_t whole = a.in_c / kPackedQuad;
  for (int32_t e = whole * kPackedQuad; e < a.in_c; ++e)
    if (x[e] != a.x_zero) return widen_window(a, x, kReluOffset, window), whole + 1;
  const int32_t active = length_without_zeros(x, whole * kPackedQuad, a.x_zero) / kPackedQuad,
                quads = active > 0 ? active : 1;
  deuteron_widen_dsp(x, quads, window, kReluOffset, 1);
  return quads;
}

void run_active(const PackedConv2dArgs& a, const int8_t* x, const int8_t* packed, int16_t* window,
                int8_t* y) {
  for (int32_t rows = a.n * a.out_h * a.out_w; rows > 0; --rows, x += a.in_c, y += a.y_step) {
    const int32_t quads = widen_active(a, x, window);
    run_window(a, window, quads, packed, y);
  }
}

}  // namespace

void packed_linear_s8_dsp(const PackedConv2dArgs& a, const int8_t* x, const int8_t* packed,
                          void* scratch, int32_t scratch_bytes, int8_t* y) {
  run_in<run_active>(scratch, scratch_bytes >= quads_of(a) * kPackedQuad * 2, a, x, packed, y);
}

void packed_linear_s8_dsp_in_scratch(const PackedConv2dArgs& a, const int8_t* x,
                                     const int8_t* packed, void* scratch, int32_t, int8_t* y) {
  run_active(a, x, packed, static_cast<int16_t*>(scratch), y);
}

}  // namespace deuteron

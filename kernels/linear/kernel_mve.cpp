// SPDX-License-Identifier: Apache-2.0
// Fully connected layer with the M-profile Vector Extension: two rows of inputs meet four rows of
// weights at a time, or one does (kernels/dense/dot_mve.h).
#include <arm_mve.h>

#include "kernels/dense/dot_mve.h"
#include "kernels/linear/kernel.h"

namespace deuteron {
namespace {

// whose multipliers and shifts lie on the stack: they are one for each output there
constexpr int32_t kOutputs = 64;
// elements of a row of which two lie on the stack
constexpr int32_t kLongestPair = 256;
constexpr int32_t kFewRows = 6;  // the sums of weights cost more than pairs of fewer save

uint32_t sum_of_row(const int8_t* x, int32_t count) {
  int32_t sum = 0;
  for (int32_t i = 0; i < count; i += kMveBlock)
    sum = vaddvaq_s8(sum, vld1q_z_s8(x + i, vctp8q(static_cast<uint32_t>(count - i))));
  return static_cast<uint32_t>(sum);
}

// Two rows of inputs at a time, in turns of a block, meet `tiles` tiles of outputs from `o` on. The
// sums of weights are found once for all rows.
[[gnu::noinline]] void run_pairs(const LinearArgs& a, const int8_t* x, const int8_t* weight,
                                 const int32_t* first, int32_t o, int32_t tiles, int8_t* y) {
  alignas(16) int8_t pair[2 * kLongestPair];
  MveTileRescale rescale[kOutputs / kMveTile];
  const uint32_t offset = static_cast<uint32_t>(a.weight_offset),
                 x_offset = static_cast<uint32_t>(a.x_offset);
  const int8_t* filter = weight + o * a.in;
  const int32_t* bias = first ? first + o : nullptr;
  for (int32_t t = 0; t < tiles; ++t) {
    for (int32_t i = 0; i < kMveTile; ++i, filter += a.in)
      rescale[t].first[i] = static_cast<int32_t>((bias ? static_cast<uint32_t>(*bias++) : 0) +
                                                 x_offset * sum_of_row(filter, a.in));
    vst1q_s32(rescale[t].multiplier, vdupq_n_s32(a.multiplier));
    vst1q_s32(rescale[t].shift, vdupq_n_s32(a.shift));
  }
  MveDot2x4 dot{pair,  weight + o * a.in, a.in,    a.in,    rescale,     y + o, nullptr,
                tiles, a.y_zero,          a.y_min, a.y_max, a.shift != 0};
  for (int32_t left = a.rows; left > 0; left -= 2, x += 2 * a.in, dot.y0 += 2 * a.out) {
    const int32_t second = left > 1 ? a.in : 0;  // of an odd number the last one twice
    int32_t sum0 = 0, sum1 = 0;
    for (int32_t i = 0; i < a.in; i += kMveBlock) {
      const mve_pred16_t here = vctp8q(static_cast<uint32_t>(a.in - i));
      const int8x16_t v = vld1q_z_s8(x + i, here), w = vld1q_z_s8(x + second + i, here);
      vst1q_s8(pair + 2 * i, v), vst1q_s8(pair + 2 * i + kMveBlock, w);
      sum0 = vaddvaq_s8(sum0, v), sum1 = vaddvaq_s8(sum1, w);
    }
    const uint32_t all = static_cast<uint32_t>(a.in) * x_offset;
    dot.more0 = static_cast<int32_t>(offset * (static_cast<uint32_t>(sum0) + all));
    dot.more1 = static_cast<int32_t>(offset * (static_cast<uint32_t>(sum1) + all));
    dot.y1 = left > 1 ? dot.y0 + a.out : dot.y0;
    deuteron_dot_2x4_mve(&dot);
  }
}

[[gnu::noinline]] void run_rows(const LinearArgs& a, const int8_t* x, const int8_t* weight,
                                const int32_t* first, int8_t* y) {
  int32_t multiplier[kOutputs], shift[kOutputs], none[kOutputs];
  for (int32_t i = 0; i < kOutputs && i < a.out; i += kMveTile) {
    vst1q_s32(multiplier + i, vdupq_n_s32(a.multiplier));
    vst1q_s32(shift + i, vdupq_n_s32(a.shift));
    vst1q_s32(none + i, vdupq_n_s32(0));
  }
  MveDot1x4 dot{};
  dot.length = dot.row_step = a.in;
  dot.multiplier = multiplier, dot.shift = shift;
  dot.x_offset = a.x_offset, dot.y_zero = a.y_zero, dot.y_min = a.y_min, dot.y_max = a.y_max,
  dot.is_shifted = a.shift != 0;
  const auto run = [&](int32_t o, int32_t tiles) {
    dot.weight = weight + o * a.in, dot.first = first ? first + o : none, dot.tiles = tiles,
    dot.y = y + o;
    deuteron_dot_1x4_mve(&dot);
  };
  for (int32_t r = 0; r < a.rows; ++r, x += a.in, y += a.out) {
    dot.x = x;
    if (a.weight_offset != 0)
      dot.more = static_cast<int32_t>(
          static_cast<uint32_t>(a.weight_offset) *
          (sum_of_row(x, a.in) + static_cast<uint32_t>(a.in) * static_cast<uint32_t>(a.x_offset)));
    const int32_t whole = a.out / kMveTile * kMveTile;
    for (int32_t o = 0; o < whole; o += kOutputs)
      run(o, (whole - o < kOutputs ? whole - o : kOutputs) / kMveTile);
    if (whole > 0 && whole < a.out) run(a.out - kMveTile, 1);  // overlaps its neighbour
    if (whole > 0) continue;
    for (int32_t o = 0; o < a.out; ++o) {  // too few: each one in all lanes
      int8_t out[kMveTile];
      const int32_t value = first ? first[o] : 0, four[] = {value, value, value, value};
      dot.row_step = 0, dot.weight = weight + o * a.in, dot.first = four, dot.tiles = 1,
      dot.y = out;
      deuteron_dot_1x4_mve(&dot);
      y[o] = out[0];
    }
  }
}

}  // namespace

void linear_s8_mve(const LinearArgs& a, const int8_t* x, const int8_t* weight, const int32_t* first,
                   int8_t* y) {
  const int32_t whole = a.out / kMveTile * kMveTile;
  if (a.rows < kFewRows || whole == 0 || a.in > kLongestPair)
    return run_rows(a, x, weight, first, y);
  for (int32_t o = 0; o < whole; o += kOutputs)
    run_pairs(a, x, weight, first, o, (whole - o < kOutputs ? whole - o : kOutputs) / kMveTile, y);
  // overlaps its neighbour
  if (whole < a.out) run_pairs(a, x, weight, first, a.out - kMveTile, 1, y);
}

}  // namespace deuteron

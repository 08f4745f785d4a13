// SPDX-License-Identifier: Apache-2.0
// Fully connected layer with the DSP extension: a row of inputs meets three rows of weights at a
// time (kernels/linear/rows_dsp.h), or all is a convolution.
#include "kernels/integer/zeros_dsp.h"
#include "kernels/linear/row_of_conv.h"
#include "kernels/linear/rows_dsp.h"

namespace deuteron {

void linear_s8_dsp(const LinearArgs& a, const int8_t* x, const int8_t* weight, const int32_t* first,
                   int8_t* y) {
  run_as_conv<conv2d_s8_dsp, conv2d_s8_dsp_rows>(a, x, weight, first, y);
}

void linear_s8_rows_dsp(const LinearArgs& a, const int8_t* x, const int8_t* weight,
                        const int32_t* first, int8_t* y) {
  alignas(4) int16_t row[kDspRow];
  const uint32_t low = static_cast<uint32_t>(a.x_offset) & 0xffff;
  const int32_t whole = a.out / kRowsAtOnce * kRowsAtOnce, right = -a.shift;
  DspRows rows{row, 0, first, y, a.multiplier, right, a.in, first + whole, a.y_zero, weight, a.in};
  if (right == 0) rows.multiplier *= 2;
  else rows.added = a.y_zero * (1 << right) + (1 << right >> 1);
  for (int32_t r = 0; r < a.rows; ++r, x += a.in, y += a.out) {
    // Zeros at the end add nothing, whatever the weights are. One step is left.
    const int32_t steps = (length_without_zeros(x, a.in, -a.x_offset) + kRowsStep - 1) / kRowsStep;
    rows.length = kRowsStep * (steps > 0 ? steps : 1), rows.left_out = a.in - rows.length;
    deuteron_widen_row_dsp(x, rows.length / kRowsStep, row, low << 16 | low);
    rows.y = y;
    deuteron_rows_dsp(&rows);
    if (whole == a.out) continue;
    const int32_t o = a.out - kRowsAtOnce;  // the last ones overlap their neighbours
    DspRows last = rows;
    last.first = first + o, last.first_end = first + a.out, last.weight = weight + o * a.in,
    last.y = y + o;
    deuteron_rows_dsp(&last);
  }
}

}  // namespace deuteron

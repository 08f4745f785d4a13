// Fully connected layer with the DSP extension: a convolution whose image is a row, if its weights have no offset.
#include "ops/conv2d/kernel.h"
#include "ops/linear/kernel.h"

namespace deuteron {
namespace {

constexpr int32_t kOutputs = 64;  // whose multipliers and shifts lie on the stack

}  // namespace

void linear_s8_dsp(const LinearArgs& a, const int8_t* x, const int8_t* weight, const int32_t* first, int8_t* y) {
  int32_t multiplier[kOutputs], shift[kOutputs];
  for (int32_t i = 0; i < kOutputs; ++i) multiplier[i] = a.multiplier, shift[i] = a.shift;
  Conv2dArgs row{};
  row.n = row.in_h = row.in_w = row.out_h = row.out_w = row.kernel_h = row.kernel_w = 1;
  row.in_c = row.kernel_c = a.in;
  row.stride_h = row.stride_w = row.dilation_h = row.dilation_w = 1;
  row.x_offset = a.x_offset, row.y_zero = a.y_zero, row.y_min = a.y_min, row.y_max = a.y_max;
  row.multiplier = multiplier, row.shift = shift, row.has_shifts = a.shift != 0;
  row.has_large_multipliers = a.multiplier < 0 || a.multiplier >= 1 << 30;
  for (int32_t r = 0; r < a.rows; ++r, x += a.in, y += a.out)
    for (int32_t o = 0; o < a.out; o += kOutputs) {
      row.out_c = a.out - o < kOutputs ? a.out - o : kOutputs;
      conv2d_s8_dsp(row, x, weight + o * a.in, first ? first + o : nullptr, nullptr, 0, y + o);
    }
}

}  // namespace deuteron

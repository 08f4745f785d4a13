// Fully connected layer with the DSP extension.
#include "ops/linear/row_of_conv.h"

namespace deuteron {

void linear_s8_dsp(const LinearArgs& a, const int8_t* x, const int8_t* weight, const int32_t* first, int8_t* y) {
  run_as_conv<conv2d_s8_dsp>(a, x, weight, first, y);
}

}  // namespace deuteron

// SPDX-License-Identifier: Apache-2.0
// Multiplication with the DSP extension.
#include "kernels/mul/words.h"

namespace deuteron {

void mul_s8_dsp(const MulArgs& a, const int8_t* x, const int8_t* other, int8_t* y) {
  mul_s8_words(a, x, other, y);
}

}  // namespace deuteron

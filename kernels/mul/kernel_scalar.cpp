// SPDX-License-Identifier: Apache-2.0
// Multiplication on cores with neither vectors nor the DSP extension.
#include "runtime/instruction_set.h"

#if defined(DEUTERON_SCALAR)
#include "kernels/mul/words.h"

namespace deuteron {

void mul_s8_scalar(const MulArgs& a, const int8_t* x, const int8_t* other, int8_t* y) {
  mul_s8_words(a, x, other, y);
}

}  // namespace deuteron
#endif

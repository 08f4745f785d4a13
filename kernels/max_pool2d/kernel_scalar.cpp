// SPDX-License-Identifier: Apache-2.0
// Maximum pooling on cores with neither vectors nor the DSP extension.
#include "runtime/instruction_set.h"

#if defined(DEUTERON_SCALAR)
#include "kernels/max_pool2d/words.h"

namespace deuteron {

void max_pool2d_s8_scalar(const MaxPool2dArgs& a, const int8_t* x, int8_t* y) {
  max_pool2d_s8_words(a, x, y);
}

}  // namespace deuteron
#endif

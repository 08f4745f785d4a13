// SPDX-License-Identifier: Apache-2.0
// Addition with the DSP extension.
#include "kernels/add/words.h"

namespace deuteron {

void add_s8_dsp(const AddArgs& a, const int8_t* x, const int8_t* other, int8_t* y) {
  add_s8_words(a, x, other, y);
}

}  // namespace deuteron

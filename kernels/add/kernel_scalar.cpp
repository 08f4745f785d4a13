// SPDX-License-Identifier: Apache-2.0
// Addition on cores with neither vectors nor the DSP extension.
#include "runtime/instruction_set.h"

#if defined(DEUTERON_SCALAR)
#include "kernels/add/words.h"

namespace deuteron {

void add_s8_scalar(const AddArgs& a, const int8_t* x, const int8_t* other, int8_t* y) {
  add_s8_words(a, x, other, y);
}

}  // namespace deuteron
#endif

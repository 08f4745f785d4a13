// SPDX-License-Identifier: Apache-2.0
// Minimum and maximum on cores with neither vectors nor the DSP extension.
#include "runtime/instruction_set.h"

#if defined(DEUTERON_SCALAR)
#include "kernels/minimum/words.h"

namespace deuteron {

void minimum_s8_scalar(const ExtremumArgs& a, const int8_t* x, const int8_t* other, int8_t* y) {
  extremum(extremum_row_by_words<Least, smaller_bytes>, a, x, other, y);
}
void maximum_s8_scalar(const ExtremumArgs& a, const int8_t* x, const int8_t* other, int8_t* y) {
  extremum(extremum_row_by_words<Most, larger_bytes>, a, x, other, y);
}

}  // namespace deuteron
#endif

// SPDX-License-Identifier: Apache-2.0
// Addition in one step on cores with neither vectors nor the DSP extension.
#include "kernels/linear/packed_add/words.h"

namespace deuteron {

void linear_add_s8_scalar(const LinearAddArgs& a, const int8_t* x, const int8_t* other, int8_t* y) {
  linear_add_s8_words<kLinearAddRight>(a, x, other, y);
}

void linear_add_q21_s8_scalar(const LinearAddArgs& a, const int8_t* x, const int8_t* other,
                              int8_t* y) {
  linear_add_s8_words<kLinearAddQ21Right>(a, x, other, y);
}

}  // namespace deuteron

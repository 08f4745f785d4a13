// SPDX-License-Identifier: Apache-2.0
#include "kernels/unary/s16/kernel.h"

namespace deuteron {

void lookup_s16(int32_t count, const int16_t* table, const int16_t* x, int16_t* y) {
  const int16_t* const middle = table + kLookupS16Entries / 2;
  for (int32_t i = 0; i < count; ++i) {
    const int32_t v = x[i], part = v & (kLookupS16Steps - 1);
    const int16_t* const entry = middle + (v >> 7);
    y[i] = static_cast<int16_t>(entry[0] +
                                (((entry[1] - entry[0]) * part + kLookupS16Steps / 2) >> 7));
  }
}

}  // namespace deuteron

// SPDX-License-Identifier: Apache-2.0
// Portable table lookup.
#include "kernels/unary/kernel.h"

namespace deuteron {

void lookup_s8(int32_t count, const int8_t* table, const int8_t* x, int8_t* y) {
  const int8_t* const middle = table + 128;
  for (int32_t sixteens = count >> 4; sixteens > 0; --sixteens, x += 16, y += 16) {
#pragma GCC unroll 4
    for (int i = 0; i < 16; i += 4) {  // loads first: y may be x, for all the compiler knows
      const int8_t a = middle[x[i]], b = middle[x[i + 1]], c = middle[x[i + 2]],
                   d = middle[x[i + 3]];
      y[i] = a, y[i + 1] = b, y[i + 2] = c, y[i + 3] = d;
    }
  }
#pragma GCC unroll 1
  for (count &= 15; count > 0; --count) *y++ = middle[*x++];
}

}  // namespace deuteron

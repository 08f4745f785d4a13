// Portable table lookup.
#include "ops/unary/kernel.h"

namespace deuteron {

void lookup_s8(int32_t count, const int8_t* table, const int8_t* x, int8_t* y) {
  const int8_t* const middle = table + 128;
  int32_t i = 0;
  for (; i + 4 <= count; i += 4, x += 4, y += 4) {  // loads first: y may be x, for all the compiler knows
    const int8_t a = middle[x[0]], b = middle[x[1]], c = middle[x[2]], d = middle[x[3]];
    y[0] = a, y[1] = b, y[2] = c, y[3] = d;
  }
  for (; i < count; ++i) *y++ = middle[*x++];
}

}  // namespace deuteron

// SPDX-License-Identifier: Apache-2.0
#include "kernels/minimum/s16/kernel.h"

#include "kernels/minimum/rows.h"

namespace deuteron {
void minimum_s16(const ExtremumArgs& a, const int16_t* x, const int16_t* other, int16_t* y) {
  extremum_by_element<Least>(a, x, other, y);
}
void maximum_s16(const ExtremumArgs& a, const int16_t* x, const int16_t* other, int16_t* y) {
  extremum_by_element<Most>(a, x, other, y);
}

}  // namespace deuteron

// SPDX-License-Identifier: Apache-2.0
// Portable minimum and maximum.
#include "kernels/minimum/kernel.h"

#include "kernels/minimum/rows.h"

namespace deuteron {
void minimum_s8(const ExtremumArgs& a, const int8_t* x, const int8_t* other, int8_t* y) {
  extremum_by_element<Least>(a, x, other, y);
}
void maximum_s8(const ExtremumArgs& a, const int8_t* x, const int8_t* other, int8_t* y) {
  extremum_by_element<Most>(a, x, other, y);
}

}  // namespace deuteron

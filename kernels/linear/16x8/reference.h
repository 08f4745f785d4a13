// SPDX-License-Identifier: Apache-2.0
// The way from a sum to int16 of kernel.h, in integers. Host only, for tests.
#pragma once
#include <cmath>
#include <cstdint>
#include <cstring>

namespace deuteron {

// What std::round() of the product in double gives, whatever the compiler does: volatile keeps it
// from more digits.
inline int64_t linear_16x8_steps(int64_t sum, int64_t scale_bits, int64_t low, int64_t high) {
  double scale;
  std::memcpy(&scale, &scale_bits, sizeof scale);
  volatile double product = static_cast<double>(sum) * scale;
  const double rounded = std::round(product);
  return rounded <= static_cast<double>(low)    ? low
         : rounded >= static_cast<double>(high) ? high
                                                : static_cast<int64_t>(rounded);
}

}  // namespace deuteron

// SPDX-License-Identifier: Apache-2.0
// The angle 2 pi k t / n, from what the product leaves of n: as exact for a large product. Fourier
// transforms of a known length are made of it.
#pragma once
#include <cmath>

#include "base/tensor/type.h"

namespace deuteron {

inline double angle_of(i64 k, i64 t, i64 n) {
  return 2 * std::acos(-1.0) * static_cast<double>(k * t % n) / static_cast<double>(n);
}
inline double cosine_of(i64 k, i64 t, i64 n) { return std::cos(angle_of(k, t, n)); }
inline double sine_of(i64 k, i64 t, i64 n) {  // 0 where the angle is a half turn
  return 2 * (k * t % n) % n == 0 ? 0 : std::sin(angle_of(k, t, n));
}

}  // namespace deuteron

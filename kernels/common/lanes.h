// SPDX-License-Identifier: Apache-2.0
// Four floats at a time, with the vector extension that gcc and clang share: loops with comparisons
// are not made into vectors by themselves.
#pragma once
#include <cstdint>
#include <cstring>

namespace deuteron {

inline constexpr int64_t kLanes = 4;
using Lanes = float __attribute__((vector_size(kLanes * sizeof(float))));

// y[i] = f(x[i]) for a function that takes Lanes as well as float. x may be y.
template <class F>
void map_floats(const float* x, float* y, int64_t count, const F& f) {
  int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    Lanes v;
    std::memcpy(&v, x + i, sizeof v);
    v = f(v);
    std::memcpy(y + i, &v, sizeof v);
  }
  for (; i < count; ++i) y[i] = f(x[i]);
}

}  // namespace deuteron

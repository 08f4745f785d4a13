// SPDX-License-Identifier: Apache-2.0
// The padding of kernel.h, element for element. Host only, for tests.
#pragma once
#include "kernels/pad/kernel.h"

namespace deuteron {

inline void pad_reference(const PadArgs& a, const int8_t* x, int8_t* y) {
  int64_t out[4];
  for (int k = 0; k < 4; ++k) out[k] = int64_t{a.before[k]} + a.in[k] + a.after[k];
  for (int64_t i0 = 0; i0 < out[0]; ++i0)
    for (int64_t i1 = 0; i1 < out[1]; ++i1)
      for (int64_t i2 = 0; i2 < out[2]; ++i2)
        for (int64_t i3 = 0; i3 < out[3]; ++i3) {
          const int64_t j[4] = {i0 - a.before[0], i1 - a.before[1], i2 - a.before[2],
                                i3 - a.before[3]};
          bool inside = true;
          for (int k = 0; k < 4; ++k) inside = inside && j[k] >= 0 && j[k] < a.in[k];
          y[((i0 * out[1] + i1) * out[2] + i2) * out[3] + i3] =
              inside ? x[((j[0] * a.in[1] + j[1]) * a.in[2] + j[2]) * a.in[3] + j[3]] : a.value;
        }
}

}  // namespace deuteron

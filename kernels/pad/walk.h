// SPDX-License-Identifier: Apache-2.0
// What padding does, as runs of bytes: some of the constant, some of x.
#pragma once
#include "kernels/pad/kernel.h"

namespace deuteron {

// fill(y, count) and copy(y, x, count), count > 0, one after the other through all of y. What lies
// between two rows of x is one run.
template <class Fill, class Copy>
void walk_padding(const PadArgs& a, const int8_t* x, int8_t* y, const Fill& fill,
                  const Copy& copy) {
  // Elements of y for one step of each dimension.
  int32_t step[4] = {0, 0, 0, 1};
  for (int k = 2; k >= 0; --k)
    step[k] = step[k + 1] * (a.before[k + 1] + a.in[k + 1] + a.after[k + 1]);
  int32_t waiting = a.before[0] * step[0];
  const auto write = [&](int32_t elements) {
    if (waiting > 0) fill(y, waiting);
    y += waiting, waiting = 0;
    if (elements > 0) copy(y, x, elements);
    x += elements, y += elements;
  };
  for (int32_t i0 = 0; i0 < a.in[0]; ++i0) {
    waiting += a.before[1] * step[1];
    for (int32_t i1 = 0; i1 < a.in[1]; ++i1) {
      waiting += a.before[2] * step[2];
      for (int32_t i2 = 0; i2 < a.in[2]; ++i2) {
        waiting += a.before[3];
        if (a.in[3] > 0) write(a.in[3]);
        waiting += a.after[3];
      }
      waiting += a.after[2] * step[2];
    }
    waiting += a.after[1] * step[1];
  }
  waiting += a.after[0] * step[0];
  write(0);
}

}  // namespace deuteron

// SPDX-License-Identifier: Apache-2.0
// A fully connected layer that rounds once, four outputs at a time: what its kernels have in
// common.
#pragma once
#include "kernels/integer/requantize.h"
#include "kernels/linear/once/kernel.h"

namespace deuteron {

// Rows: the sums of products of some rows with v, as kernels/recurrent/rows_mve.h has them.
template <class Rows>
void linear_once_with(const LinearOnceArgs& args, const int8_t* x, const int8_t* weight,
                      const int32_t* first, const int32_t* multiplier, const int32_t* shift,
                      int8_t* y) {
  constexpr int32_t kTogether = 4;
  const LinearOnceArgs a = args;  // for all the compiler knows, y might lie over the arguments
  for (int32_t r = 0; r < a.rows; ++r, x += a.inputs) {
    const int8_t* w = weight;
    int32_t o = 0;
    const auto finish = [&](int32_t sum) {
      const int32_t v = requantize_once(add_wrapping(first[o], sum), multiplier[o], shift[o]);
      *y++ = static_cast<int8_t>(clamp_to(add_wrapping(v, a.y_zero), a.y_min, a.y_max));
      ++o;
    };
    for (; a.outputs - o >= kTogether; w += kTogether * a.inputs) {
      int32_t sums[kTogether];
      Rows::template sum<kTogether>(w, a.inputs, x, a.inputs, sums);
      for (const int32_t sum : sums) finish(sum);
    }
    for (; o < a.outputs; w += a.inputs) {
      int32_t sums[1];
      Rows::template sum<1>(w, a.inputs, x, a.inputs, sums);
      finish(sums[0]);
    }
  }
}

}  // namespace deuteron

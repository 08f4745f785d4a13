// SPDX-License-Identifier: Apache-2.0
// Addition in one step with the M-profile Vector Extension (kernels/linear/packed_add/row_mve.S).
#include "kernels/linear/packed_add/kernel.h"
#include "kernels/linear/packed_add/row_mve.h"

namespace deuteron {

[[gnu::noinline]] static void run_rows(const LinearAddArgs& a, const int8_t* x, const int8_t* other,
                                       int8_t* y, int32_t left) {
  const int32_t period = a.period;
  for (int32_t done = 0; done < a.count; done += period)
    deuteron_linear_add_row_mve(&a, x + done, other, y + done, period, left);
}

void linear_add_s8_mve(const LinearAddArgs& a, const int8_t* x, const int8_t* other, int8_t* y) {
  run_rows(a, x, other, y, -20);
}

void linear_add_q21_s8_mve(const LinearAddArgs& a, const int8_t* x, const int8_t* other,
                           int8_t* y) {
  run_rows(a, x, other, y, -21);
}

}  // namespace deuteron

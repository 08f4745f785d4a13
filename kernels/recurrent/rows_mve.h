// SPDX-License-Identifier: Apache-2.0
// The inner loop of the recurrent kernels with the M-profile Vector Extension: 16 elements of v
// meet each row.
#pragma once
#include <cstdint>

namespace deuteron {

struct MveRows {
  // Two rows at a time, of an odd number the last one twice. Assembly, because gcc 12 makes no
  // loops that end within a vector.
  template <int32_t rows>
  static void sum(const int8_t* first, int32_t step, const int8_t* v, int32_t count,
                  int32_t (&sums)[rows]) {
    for (int32_t r = 0; r < rows; r += 2) {
      const int8_t *one = first + r * step, *two = r + 1 < rows ? one + step : one, *of_v = v;
      int32_t of_one = 0, of_two = 0;
      asm volatile(
          "dlstp.8 lr, %[count]\n"
          "1:\n"
          "vldrb.u8 q0, [%[v]], #16\n"
          "vldrb.u8 q1, [%[one]], #16\n"
          "vmladava.s8 %[of_one], q0, q1\n"
          "vldrb.u8 q2, [%[two]], #16\n"
          "vmladava.s8 %[of_two], q0, q2\n"
          "letp lr, 1b\n"
          : [v] "+&r"(of_v), [one] "+&r"(one), [two] "+&r"(two), [of_one] "+&Te"(of_one),
            [of_two] "+&Te"(of_two)
          : [count] "r"(count)
          : "q0", "q1", "q2", "lr", "memory");
      sums[r] = of_one;
      if (r + 1 < rows) sums[r + 1] = of_two;
    }
  }
};

}  // namespace deuteron

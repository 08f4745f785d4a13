// SPDX-License-Identifier: Apache-2.0
// The products of kernels/integer/products_16x8.h with the M-profile Vector Extension: six
// instructions for sixteen, with sums of 64 bits.
#pragma once
#include <cstdint>

namespace deuteron {

class Products16x8Mve {
 public:
  // Assembly, because gcc 12 makes no loops that end within a vector.
  void add(const int16_t* x, const int8_t* weight, int32_t step, int32_t count) {
    const int8_t* second = weight + step;
    asm("dlstp.16 lr, %[count]\n"
        "1:\n"
        "vldrh.u16 q0, [%[x]], #16\n"
        "vldrb.s16 q1, [%[first]], #8\n"
        "vmlaldava.s16 %Q[a], %R[a], q0, q1\n"
        "vldrb.s16 q1, [%[second]], #8\n"
        "vmlaldava.s16 %Q[b], %R[b], q0, q1\n"
        "letp lr, 1b\n"
        : [a] "+r"(sum_[0]), [b] "+r"(sum_[1]), [x] "+r"(x), [first] "+l"(weight),
          [second] "+l"(second)
        : [count] "r"(count)
        : "q0", "q1", "lr", "memory");
  }
  // The same of int16 by int16.
  void add(const int16_t* x, const int16_t* other, int32_t step, int32_t count) {
    const int16_t* second = other + step;
    asm("dlstp.16 lr, %[count]\n"
        "1:\n"
        "vldrh.u16 q0, [%[x]], #16\n"
        "vldrh.u16 q1, [%[first]], #16\n"
        "vmlaldava.s16 %Q[a], %R[a], q0, q1\n"
        "vldrh.u16 q1, [%[second]], #16\n"
        "vmlaldava.s16 %Q[b], %R[b], q0, q1\n"
        "letp lr, 1b\n"
        : [a] "+r"(sum_[0]), [b] "+r"(sum_[1]), [x] "+r"(x), [first] "+r"(other),
          [second] "+r"(second)
        : [count] "r"(count)
        : "q0", "q1", "lr", "memory");
  }
  int64_t total(int32_t k) const { return sum_[k]; }

 private:
  int64_t sum_[2] = {};
};

}  // namespace deuteron

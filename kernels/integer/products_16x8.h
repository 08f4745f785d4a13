// SPDX-License-Identifier: Apache-2.0
// Sums of products of int16 and int8 in 64 bits.
#pragma once
#include <cstdint>

namespace deuteron {

// A product is at most 2^22: so many fit int32. What 32 bits hold is added to 64 once it is full.
inline constexpr int32_t kMostProducts16x8 = 511;

// Adds `count` products of x with each of two filters to `sums`. Not inlined: where gcc 12 does, it
// keeps the pointers on the stack.
[[gnu::noinline]] inline void add_products_16x8(const int16_t* x, const int8_t* first,
                                                const int8_t* second, int32_t count,
                                                int32_t (&sums)[2]) {
  int32_t a = sums[0], b = sums[1];
  for (int32_t i = 0; i < count; ++i) a += x[i] * first[i], b += x[i] * second[i];
  sums[0] = a, sums[1] = b;
}

// The products of x with two filters, so that each number of x is loaded once for both. add():
// `count` numbers of x that lie side by side, and as many of each filter, the second one `step`
// behind the first.
class Products16x8 {
 public:
  void add(const int16_t* x, const int8_t* weight, int32_t step, int32_t count) {
    while (count > 0) {
      if (room_ == 0) flush();
      const int32_t now = count < room_ ? count : room_;
      add_products_16x8(x, weight, weight + step, now, part_);
      x += now, weight += now, count -= now, room_ -= now;
    }
  }
  int64_t total(int32_t k) const { return sum_[k] + part_[k]; }

 private:
  void flush() {
    for (int32_t k = 0; k < 2; ++k) sum_[k] += part_[k], part_[k] = 0;
    room_ = kMostProducts16x8;
  }
  int64_t sum_[2] = {};
  int32_t part_[2] = {}, room_ = kMostProducts16x8;
};

}  // namespace deuteron

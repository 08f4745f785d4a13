// SPDX-License-Identifier: Apache-2.0
// Portable softmax. Fixed-point numbers are int32; Qm.n has n bits behind the point.
#include "kernels/softmax/kernel.h"

#include "kernels/common/one_copy.h"
#include "kernels/integer/ends.h"
#include "kernels/integer/reciprocal.h"
#include "kernels/integer/requantize_words.h"
#include "kernels/softmax/exponential.h"

namespace deuteron {
namespace {

// Whether loads that follow each other take less time than apart.
#if defined(__ARM_ARCH_ISA_THUMB) && __ARM_ARCH_ISA_THUMB == 1
constexpr bool kLoadsInARow = false;
#else
constexpr bool kLoadsInARow = true;
#endif

using q31::exp_of_negative, q31::multiply_unsigned;

int leading_zeros(uint32_t v) {
#if defined(__ARM_FEATURE_CLZ)
  return __builtin_clz(v);
#else
  int n = 0;
  for (; !(v & 0x80000000u); v <<= 1) ++n;
  return n;
#endif
}

DEUTERON_ONE_COPY int32_t exponential(const SoftmaxArgs& a, int32_t d) {
  return exp_of_negative(
      multiply_high(static_cast<int32_t>(static_cast<uint32_t>(d) << a.shift), a.multiplier));
}

// Of the type of a result: the bits of its step of 1, and sums from which on each result is the
// least.
template <class Y>
struct Steps;
template <>
struct Steps<int8_t> {
  static constexpr int kBits = 8;
  static constexpr uint32_t kEnough = uint32_t{1} << 28;
  static int32_t saturated(int32_t y) { return saturate_s8(y); }
};
template <>
struct Steps<int16_t> {
  static constexpr int kBits = 16;
  static constexpr uint32_t kEnough = UINT32_MAX;  // none: kMostSoftmaxWideColumns
  static int32_t saturated(int32_t y) { return saturate_s16(y); }
};

// One row. `e`: exponentials, by elements of x. Nothing here is negative, so halves go up.
template <class Y>
inline void run_row(int32_t columns, const int8_t* x, const uint32_t* e, Y* y) {
  constexpr int kBits = Steps<Y>::kBits;
  constexpr uint32_t kEnough = Steps<Y>::kEnough;
  constexpr int32_t kLeast = -(1 << (kBits - 1));
  uint32_t sum = 0;
  int32_t i = 0;
  for (; i + 4 <= columns && sum < kEnough; i += 4)  // four are at most 2^21
    for (int32_t k = i; k < i + 4; ++k) sum += (e[x[k]] + (1u << 11)) >> 12;
  for (; i < columns && sum < kEnough; ++i) sum += (e[x[i]] + (1u << 11)) >> 12;
  if (sum >= kEnough) {
    for (i = 0; i < columns; ++i) y[i] = kLeast;
    return;
  }
  const int headroom = leading_zeros(sum),
            bits = 43 - kBits - headroom;  // 2^19 <= sum, and of int8 < 2^28: bits 23..31
  const auto scale = static_cast<uint32_t>(
      reciprocal_of_one_plus(static_cast<int32_t>((sum << headroom) - 0x80000000u)));
  const uint32_t half = uint32_t{1} << (bits - 1);
  const auto result = [&](uint32_t exponential) {  // at most 2^32 >> bits steps
    const auto steps = static_cast<int32_t>((multiply_unsigned(exponential, scale) + half) >> bits);
    return static_cast<Y>(Steps<Y>::saturated(steps + kLeast));
  };
  for (i = 0; kLoadsInARow && i + 4 <= columns; i += 4) {  // y may be x
    const uint32_t of[] = {e[x[i]], e[x[i + 1]], e[x[i + 2]], e[x[i + 3]]};
    y[i] = result(of[0]), y[i + 1] = result(of[1]);
    y[i + 2] = result(of[2]), y[i + 3] = result(of[3]);
  }
#pragma GCC unroll 1
  for (; i < columns; ++i) y[i] = result(e[x[i]]);
}

constexpr int64_t kManyElements = 256;

// Of few elements each has its exponential computed, in the same time whatever the data where
// kSameTime. Of many those of all distances are, once: there are at most 256 of them, as many as
// the row wants that reaches farthest. The larger a distance to the maximum, the further ahead its
// exponential stands.
template <class Y>
void run(const SoftmaxArgs& a, const int8_t* x, Y* y) {
  constexpr int32_t kFarthest = 255;
  uint32_t e[kFarthest + 1];
  int32_t known = 0;
  const bool many = int64_t{a.rows} * a.columns >= kManyElements;
  for (int32_t r = 0; r < a.rows; ++r, x += a.columns, y += a.columns) {
    const auto [least, most] = ends_of(x, a.columns);
    const int32_t count = many ? most - least + 1 : a.columns;
    for (int32_t i = many ? known : 0; i < count; ++i) {
      const int32_t distance = many ? i : most - x[i];
      const bool is_nothing = -distance < a.diff_min;
      uint32_t v = 0;
      if (!is_nothing || (q31::kSameTime && !many)) {
        v = static_cast<uint32_t>(exponential(a, -distance));
        asm volatile("" : "+r"(v));  // not left out where it is nothing
      }
      e[kFarthest - distance] = is_nothing ? 0 : v;
    }
    known = count > known ? count : known;
    // Where an element of 0 would stand, which may lie outside of e: an address, as a pointer may
    // not.
    const uintptr_t zero =
        reinterpret_cast<uintptr_t>(e) + static_cast<uintptr_t>(kFarthest - most) * sizeof *e;
    run_row(a.columns, x, reinterpret_cast<const uint32_t*>(zero), y);
  }
}

}  // namespace

void softmax_s8(const SoftmaxArgs& a, const int8_t* x, int8_t* y) { run(a, x, y); }
void softmax_s8_wide(const SoftmaxArgs& a, const int8_t* x, int16_t* y) { run(a, x, y); }

}  // namespace deuteron

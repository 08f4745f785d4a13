// SPDX-License-Identifier: Apache-2.0
// Portable softmax. Fixed-point numbers are int32; Qm.n has n bits behind the point.
#include "kernels/softmax/kernel.h"

#include "kernels/common/one_copy.h"
#include "kernels/integer/ends.h"
#include "kernels/integer/reciprocal.h"
#include "kernels/integer/requantize_words.h"
#include "kernels/softmax/exponential.h"
#include "runtime/instruction_set.h"

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
#if defined(DEUTERON_DSP)
  static constexpr int32_t kTurn = 8;  // elements of a turn of loops
#else
  static constexpr int32_t kTurn = 4;
#endif
  static constexpr int kBits = 8;
  static constexpr uint32_t kEnough = uint32_t{1} << 28;
  static int32_t saturated(int32_t y) { return saturate_s8(y); }
};
template <>
struct Steps<int16_t> {
  static constexpr int32_t kTurn = 4;
  static constexpr int kBits = 16;
  static constexpr uint32_t kEnough = UINT32_MAX;  // none: kMostSoftmaxWideColumns
  static int32_t saturated(int32_t y) { return saturate_s16(y); }
};

// Registers hold all four before one of them is used: none is waited for.
template <class T>
struct Four {
  T v[4];
  void known() {
#if defined(DEUTERON_DSP)
    asm("" : "+r"(v[0]), "+r"(v[1]), "+r"(v[2]), "+r"(v[3]));
#endif
  }
};
inline Four<uint32_t> four_of(const uint32_t* e, const int8_t* x) {
  Four<int32_t> at{{x[0], x[1], x[2], x[3]}};
  at.known();
  Four<uint32_t> four{{e[at.v[0]], e[at.v[1]], e[at.v[2]], e[at.v[3]]}};
  return four.known(), four;
}

// sum + e / 2^12, halves up.
inline uint32_t plus_step(uint32_t sum, uint32_t e) {
#if defined(DEUTERON_DSP)
  uint32_t r;
  asm("smmlar %0, %1, %2, %3" : "=r"(r) : "r"(e), "r"(1 << 20), "r"(sum));
  return r;
#else
  return sum + ((e + (1u << 11)) >> 12);
#endif
}

// multiply_unsigned() by 2^30 or more: 2 * scale - 2^32 is negative, and e is added for the rest.
inline uint32_t multiply_large(uint32_t e, uint32_t scale) {
#if defined(DEUTERON_DSP)
  uint32_t r;
  asm("smmlar %0, %1, %2, %1" : "=r"(r) : "r"(e), "r"(2 * scale));
  return r;
#else
  return multiply_unsigned(e, scale);
#endif
}

// v / 2^bits + added, halves up.
inline int32_t shift_and_add(uint32_t v, int32_t bits, int32_t added) {
#if defined(DEUTERON_DSP)
  int32_t r;  // the last bit shifted out is added
  asm("lsrs %0, %1, %2\n\tadc %0, %0, %3" : "=&r"(r) : "r"(v), "r"(bits), "r"(added) : "cc");
  return r;
#else
  return static_cast<int32_t>((v + (1u << (bits - 1))) >> bits) + added;
#endif
}

// Sums from kEnough on are any number that is no less.
template <class Y>
inline uint32_t sum_of(int32_t columns, const int8_t* x, const uint32_t* e) {
  constexpr int32_t kTurn = Steps<Y>::kTurn, kWithoutWrap = 4096;  // each is at most 2^19
  uint32_t sum = 0;
  for (int32_t i = 0; i < columns && sum < Steps<Y>::kEnough;) {
    const int32_t end = columns - i < kWithoutWrap ? columns : i + kWithoutWrap;
    uint32_t other = 0;
    for (; kLoadsInARow && i + kTurn <= end; i += kTurn)
      for (int32_t k = i; k < i + kTurn; k += 4) {
        const Four<uint32_t> of = four_of(e, x + k);
        sum = plus_step(sum, of.v[0]), other = plus_step(other, of.v[1]);
        sum = plus_step(sum, of.v[2]), other = plus_step(other, of.v[3]);
      }
    sum += other;
#pragma GCC unroll 1
    for (; i < end; ++i) sum = plus_step(sum, e[x[i]]);
  }
  return sum;
}

// One row. `e`: exponentials, by elements of x. Nothing here is negative, so halves go up.
template <class Y>
inline void run_row(int32_t columns, const int8_t* x, const uint32_t* e, Y* y) {
  constexpr int kBits = Steps<Y>::kBits;
  constexpr uint32_t kEnough = Steps<Y>::kEnough;
  constexpr int32_t kLeast = -(1 << (kBits - 1)), kTurn = Steps<Y>::kTurn;
  const uint32_t sum = sum_of<Y>(columns, x, e);
  if (sum >= kEnough) {
    for (int32_t i = 0; i < columns; ++i) y[i] = kLeast;
    return;
  }
  const int headroom = leading_zeros(sum),
            bits = 43 - kBits - headroom;  // 2^19 <= sum, and of int8 < 2^28: bits 23..31
  const auto scale = static_cast<uint32_t>(
      reciprocal_of_one_plus(static_cast<int32_t>((sum << headroom) - 0x80000000u)));
  // Reciprocals are below 2^30 of the last five numbers alone, and here the last `headroom` bits
  // are 0.
  const auto scaled = [scale](uint32_t v) {
    return kBits == 8 ? multiply_large(v, scale) : multiply_unsigned(v, scale);
  };
  const auto result = [bits](uint32_t v) {  // at most 2^32 >> bits steps
    return static_cast<Y>(Steps<Y>::saturated(shift_and_add(v, bits, kLeast)));
  };
  int32_t i = 0;
  for (; kLoadsInARow && i + kTurn <= columns; i += kTurn)  // y may be x
    for (int32_t k = i; k < i + kTurn; k += 4) {
      Four<uint32_t> of = four_of(e, x + k);
      for (uint32_t& v : of.v) v = scaled(v);
      of.known();
      y[k] = result(of.v[0]), y[k + 1] = result(of.v[1]);
      y[k + 2] = result(of.v[2]), y[k + 3] = result(of.v[3]);
    }
#pragma GCC unroll 1
  for (; i < columns; ++i) y[i] = result(scaled(e[x[i]]));
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

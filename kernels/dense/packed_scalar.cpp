// SPDX-License-Identifier: Apache-2.0
// Inner loops on weights packed as scalar_1x4 in plain C++, for cores that multiply to two words
// and have many registers: contracts in packed_scalar.h. Thumb has assembly.
#include "kernels/dense/packed_scalar.h"

#include "kernels/dense/packing.h"
#include "kernels/integer/requantize_words.h"
#include "kernels/integer/words.h"
#include "runtime/instruction_set.h"

#if defined(DEUTERON_SCALAR) && !defined(__ARM_ARCH_ISA_THUMB)
namespace deuteron {
namespace {

constexpr int32_t kWindows = 4;

inline int32_t int_at(const int8_t* aligned) { return static_cast<int32_t>(four_at(aligned)); }

inline int8_t saturated(int32_t v, int32_t y_zero) {
  return static_cast<int8_t>(saturate_s8(add_wrapping(v, y_zero)));
}

// The byte of a sum. `shift`: of the filter, -31..0; null: there are none, and the multiplier is
// doubled.
inline int8_t finished(uint32_t sum, int32_t multiplier, const int8_t* shift, int32_t y_zero) {
  const auto v = static_cast<int32_t>(sum);
  if (!shift) return saturated(multiply_high_rounded(v, multiplier), y_zero);
  const int32_t right = -int_at(shift), product = multiply_high(v, multiplier);
  return saturated(right == 0 ? product : shift_right_rounded(product, right), y_zero);
}

// Two elements of a pair of windows at a time. Of their products the word is Q = 32768 - A - 65536
// * B, where A and B are sums of two products and 32768 - A fits 16 bits without a sign: Q / 65536,
// rounded down, is -B.
struct PairSums {
  uint32_t words = 0, upper = 0;  // of all Q; of all B
  void add(int32_t x0, int32_t w0, int32_t x1, int32_t w1) {
    const uint32_t q = 32768u - static_cast<uint32_t>(x0) * static_cast<uint32_t>(w0) -
                       static_cast<uint32_t>(x1) * static_cast<uint32_t>(w1);
    words += q;
    upper -= static_cast<uint32_t>(static_cast<int32_t>(q) >> 16);
  }
  uint32_t lower(int32_t steps) const {
    return 32768u * static_cast<uint32_t>(steps) - words - 65536u * upper;
  }
};

// Filters that stand one behind the other meet all windows: the words of these are loaded once.
template <int32_t filters>
inline void meet(const ScalarPackedWindows& a, const int8_t* packed, int32_t i) {
  PairSums sums[filters][kWindows / 2];
  const int8_t* weight = packed + kFilterNumbers;
  const int32_t step = a.length + kFilterNumbers;
  for (const int32_t *x = a.x, *const end = x + 2 * a.length; x != end; x += 4, weight += 2)
#pragma GCC unroll 2
    for (int32_t f = 0; f < filters; ++f) {
      const int32_t w0 = weight[f * step], w1 = weight[f * step + 1];
      sums[f][0].add(x[0], w0, x[2], w1);
      sums[f][1].add(x[1], w0, x[3], w1);
    }
#pragma GCC unroll 2
  for (int32_t f = 0; f < filters; ++f, packed += step) {
    const auto first = static_cast<uint32_t>(int_at(packed));
    const int32_t multiplier = int_at(packed + 4);
    const int8_t* const shift = a.shifts ? a.shifts + (i + f) * kShiftBytes : nullptr;
    for (int32_t k = 0; k < kWindows; ++k) {
      const PairSums& pair = sums[f][k / 2];
      const uint32_t sum = k % 2 == 0 ? pair.lower(a.length / 2) : pair.upper;
      a.y[k][i + f] = finished(first + sum, multiplier, shift, a.y_zero);
    }
  }
}

}  // namespace

extern "C" void deuteron_packed_windows_scalar(const ScalarPackedWindows* all) {
  const ScalarPackedWindows& a = *all;
  const int32_t step = a.length + kFilterNumbers;
  int32_t i = 0;
  for (; i + 2 <= a.filters; i += 2) meet<2>(a, a.packed + i * step, i);
  if (i < a.filters) meet<1>(a, a.packed + i * step, i);
}

extern "C" void deuteron_packed_window_scalar(const ScalarPackedWindow* all) {
  constexpr int32_t kFilters = 4;
  const ScalarPackedWindow a = *all;  // for all the compiler knows, y might lie over it
  const int8_t *packed = a.packed, *shift = a.shifts;
  for (int32_t i = 0; i < a.filters; i += kFilters) {
    const int8_t *w0 = packed + kFilterNumbers, *w1 = w0 + a.step, *w2 = w1 + a.step,
                 *w3 = w2 + a.step;
    uint32_t s0 = 0, s1 = 0, s2 = 0, s3 = 0;
#pragma GCC unroll 4
    for (const int8_t *x = a.x, *const end = x + a.length; x != end; ++x) {
      const int32_t v = *x;
      s0 += static_cast<uint32_t>(v * *w0++), s1 += static_cast<uint32_t>(v * *w1++);
      s2 += static_cast<uint32_t>(v * *w2++), s3 += static_cast<uint32_t>(v * *w3++);
    }
    const uint32_t sums[kFilters] = {s0, s1, s2, s3};
    for (int32_t f = 0; f < kFilters; ++f, packed += a.step) {
      const uint32_t sum = four_at(packed) + sums[f];
      a.y[i + f] = finished(sum, int_at(packed + 4), shift, a.y_zero);
      if (shift && a.step != 0) shift += kShiftBytes;
    }
  }
}

}  // namespace deuteron
#endif

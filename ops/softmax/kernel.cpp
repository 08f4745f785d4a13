// Portable softmax. Fixed-point numbers are int32; Qm.n has n bits behind the point.
#include "ops/softmax/kernel.h"

#include "ops/device/one_copy.h"
#include "ops/integer/reciprocal.h"
#include "ops/softmax/exponential.h"

namespace deuteron {
namespace {

using q31::exp_of_negative;

int leading_zeros(uint32_t v) {
  int n = 0;
  for (; !(v & 0x80000000u); v <<= 1) ++n;
  return n;
}

constexpr int32_t kUnknown = INT32_MIN;  // not bytes that are all alike, which a compiler would fetch memset for

// `known`, by -d: what has been computed, else kUnknown; null: nothing is remembered.
DEUTERON_ONE_COPY int32_t exponential(const SoftmaxArgs& a, int32_t d, int32_t* known) {
  if (known && known[-d] != kUnknown) return known[-d];
  const int32_t e = exp_of_negative(multiply_high(static_cast<int32_t>(static_cast<uint32_t>(d) << a.shift), a.multiplier));
  if (known) known[-d] = e;
  return e;
}

// Of the type of a result: the bits of its step of 1, and sums from which on each result is the least.
template <class Y>
struct Steps;
template <>
struct Steps<int8_t> {
  static constexpr int kBits = 8;
  static constexpr uint32_t kEnough = uint32_t{1} << 28;
};
template <>
struct Steps<int16_t> {
  static constexpr int kBits = 16;
  static constexpr uint32_t kEnough = UINT32_MAX;  // none: kMostSoftmaxWideColumns
};

template <class Y>
DEUTERON_ONE_COPY void run_rows(const SoftmaxArgs& a, const int8_t* x, Y* y, int32_t* known) {
  constexpr int kBits = Steps<Y>::kBits, kLeast = -(1 << (kBits - 1));
  constexpr uint32_t kEnough = Steps<Y>::kEnough;
  for (int32_t r = 0; r < a.rows; ++r, x += a.columns, y += a.columns) {
    int32_t most = -128;
    for (int32_t i = 0; i < a.columns; ++i) most = x[i] > most ? x[i] : most;
    uint32_t sum = 0;
    for (int32_t i = 0; i < a.columns && sum < kEnough; ++i)
      if (x[i] - most >= a.diff_min) sum += static_cast<uint32_t>(round_shift_right(exponential(a, x[i] - most, known), 12));
    if (sum >= kEnough) {
      for (int32_t i = 0; i < a.columns; ++i) y[i] = kLeast;
      continue;
    }
    const int headroom = leading_zeros(sum), bits = 43 - kBits - headroom;  // 2^19 <= sum, and of int8 < 2^28: bits 23..31
    // Positive, so that no product saturates.
    const int32_t scale = reciprocal_of_one_plus(static_cast<int32_t>((sum << headroom) - 0x80000000u));
    for (int32_t i = 0; i < a.columns; ++i) {
      const int32_t d = x[i] - most;
      y[i] = static_cast<Y>(
          d < a.diff_min ? kLeast
                         : clamp_to(round_shift_right(multiply_high(scale, exponential(a, d, known)), bits) + kLeast, kLeast, -kLeast - 1));
    }
  }
}

// Each exponential is computed once: there are at most 256 of them, and every element wants its own twice.
template <class Y>
[[gnu::noinline]] void run_remembering(const SoftmaxArgs& a, const int8_t* x, Y* y) {
  int32_t known[256];
  for (int32_t& v : known) v = kUnknown;
  run_rows(a, x, y, known);
}

constexpr int64_t kManyElements = 32;  // from which on remembering takes fewer instructions

template <class Y>
void run(const SoftmaxArgs& a, const int8_t* x, Y* y) {
  if (int64_t{a.rows} * a.columns >= kManyElements) run_remembering(a, x, y);
  else run_rows<Y>(a, x, y, nullptr);
}

}  // namespace

void softmax_s8(const SoftmaxArgs& a, const int8_t* x, int8_t* y) { run(a, x, y); }
void softmax_s8_wide(const SoftmaxArgs& a, const int8_t* x, int16_t* y) { run(a, x, y); }

}  // namespace deuteron

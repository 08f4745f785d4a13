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

DEUTERON_ONE_COPY int32_t exponential(const SoftmaxArgs& a, int32_t d) {
  return exp_of_negative(multiply_high(static_cast<int32_t>(static_cast<uint32_t>(d) << a.shift), a.multiplier));
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

// One row. `e`: exponentials, by the distance to `most`. Nothing here is negative, so halves go up.
template <class Y>
inline void run_row(const SoftmaxArgs& a, const int8_t* x, int32_t most, const uint32_t* e, Y* y) {
  constexpr int kBits = Steps<Y>::kBits;
  constexpr uint32_t kEnough = Steps<Y>::kEnough, kSteps = uint32_t{1} << kBits;
  constexpr int32_t kLeast = -(1 << (kBits - 1));
  uint32_t sum = 0;
  for (int32_t i = 0; i < a.columns && sum < kEnough; ++i) sum += (e[most - x[i]] + (1u << 11)) >> 12;
  if (sum >= kEnough) {
    for (int32_t i = 0; i < a.columns; ++i) y[i] = kLeast;
    return;
  }
  const int headroom = leading_zeros(sum), bits = 43 - kBits - headroom;  // 2^19 <= sum, and of int8 < 2^28: bits 23..31
  const auto scale = static_cast<uint32_t>(reciprocal_of_one_plus(static_cast<int32_t>((sum << headroom) - 0x80000000u)));
  const uint32_t half = uint32_t{1} << (bits - 1);
  for (int32_t i = 0; i < a.columns; ++i) {
    const auto product = static_cast<uint32_t>((uint64_t{scale} * e[most - x[i]] + (uint32_t{1} << 30)) >> 31);
    const uint32_t step = (product + half) >> bits;
    y[i] = static_cast<Y>(static_cast<int32_t>(step < kSteps ? step : kSteps - 1) + kLeast);
  }
}

constexpr int64_t kManyElements = 256;

// Of few elements each has its exponential computed. Of many those of all distances are, once: there are at most 256 of them, as many as
// the row wants that reaches farthest.
template <class Y>
void run(const SoftmaxArgs& a, const int8_t* x, Y* y) {
  uint32_t e[256];
  int32_t known = 0;
  const bool many = int64_t{a.rows} * a.columns >= kManyElements;
  for (int32_t r = 0; r < a.rows; ++r, x += a.columns, y += a.columns) {
    int32_t least = 127, most = -128;
    for (int32_t i = 0; i < a.columns; ++i) {
      least = x[i] < least ? x[i] : least;
      most = x[i] > most ? x[i] : most;
    }
    const int32_t count = many ? most - least + 1 : a.columns;
    for (int32_t i = many ? known : 0; i < count; ++i) {
      const int32_t distance = many ? i : most - x[i];
      e[distance] = -distance < a.diff_min ? 0 : static_cast<uint32_t>(exponential(a, -distance));
    }
    known = count > known ? count : known;
    run_row(a, x, most, e, y);
  }
}

}  // namespace

void softmax_s8(const SoftmaxArgs& a, const int8_t* x, int8_t* y) { run(a, x, y); }
void softmax_s8_wide(const SoftmaxArgs& a, const int8_t* x, int16_t* y) { run(a, x, y); }

}  // namespace deuteron

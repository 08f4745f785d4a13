// SPDX-License-Identifier: Apache-2.0
// How conv2d_s8_scalar meets filters on Cortex-M0, M0+ and M23 (kernels/dense/dot_thumb1_scalar.h):
// four windows as two pairs, or one as words.
#pragma once
#include "kernels/conv2d/filters.h"
#include "kernels/conv2d/lane.h"
#include "kernels/dense/dot_thumb1_scalar.h"
#include "kernels/integer/requantize.h"
#include "runtime/instruction_set.h"

#if defined(DEUTERON_SCALAR) && DEUTERON_SCALAR == 1
namespace deuteron {

inline constexpr int32_t kLeastFilters = 1,
                         // of a group; at a time: their first sums lie on the stack
    kMostFilters = 128;
inline constexpr int32_t kAlone = 2;  // int16 of an element of a window that is met alone
inline constexpr int32_t kWindowsAlignment = alignof(int32_t);
inline constexpr int32_t kFiltersOfSums = 16;  // whose sums wait to be bytes

inline const char* why_not_tiles(const Conv2dArgs& a) { return why_not_conv2d_dsp(a); }

using Word [[gnu::may_alias]] = int32_t;  // of a pair, or of a window alone

// The even windows of a pair write whole words, less what was read; the odd ones then take theirs
// from the upper half.
inline int16_t* widen_even(const int8_t* from, int32_t count, int32_t, int16_t* to) {
  auto* word = reinterpret_cast<Word*>(to);
  for (; count >= 4; count -= 4, from += 4, word += 8)
    word[0] = -from[0], word[2] = -from[1], word[4] = -from[2], word[6] = -from[3];
  for (; count > 0; --count, word += 2) *word = -*from++;
  return reinterpret_cast<int16_t*>(word);
}
inline int16_t* widen_odd(const int8_t* from, int32_t count, int32_t, int16_t* to) {
  const auto take = [](int16_t& half, int8_t x) { half = static_cast<int16_t>(half - x); };
  for (; count >= 4; count -= 4, from += 4, to += 16)
    take(to[0], from[0]), take(to[4], from[1]), take(to[8], from[2]), take(to[12], from[3]);
  for (; count > 0; --count, to += 4) take(*to, *from++);
  return to;
}
inline int16_t* pad_even(int32_t count, int32_t offset, int16_t* to) {  // the zero point is -offset
  auto* word = reinterpret_cast<Word*>(to);
  for (; count > 0; --count, word += 2) *word = offset;
  return reinterpret_cast<int16_t*>(word);
}
inline int16_t* pad_odd(int32_t count, int32_t offset, int16_t* to) {
  for (; count > 0; --count, to += 4) *to = static_cast<int16_t>(*to + offset);
  return to;
}
inline int16_t* widen_alone(const int8_t* from, int32_t count, int32_t offset, int16_t* to) {
  auto* word = reinterpret_cast<Word*>(to);
  for (; count > 0; --count) *word++ = *from++ + offset;
  return reinterpret_cast<int16_t*>(word);
}
inline int16_t* pad_alone(int32_t count, int32_t, int16_t* to) {
  auto* word = reinterpret_cast<Word*>(to);
  for (; count > 0; --count) *word++ = 0;
  return reinterpret_cast<int16_t*>(word);
}

inline constexpr Lane kLaneAlone = {widen_alone, pad_alone},
                      kLanesOfPair[] = {{widen_even, pad_even}, {widen_odd, pad_odd}};
inline constexpr Lane lane_of(int32_t k) { return kLanesOfPair[k % 2]; }  // of window k of four

// The sum of a row of weights: four bytes of a word at a time where it may be read so.
inline int32_t sum_of(const int8_t* weight, int32_t length) {
  constexpr uint32_t kSigns = 0x80808080, kEven = 0x00ff00ff;
  constexpr int32_t kWords = 256;  // whose halves hold what is summed in them
  int32_t sum = 0;
  for (; length > 0 && reinterpret_cast<uintptr_t>(weight) % 4 != 0; --length) sum += *weight++;
  while (length >= 4) {
    const int32_t words = length / 4 < kWords ? length / 4 : kWords;
    uint32_t even = 0, odd = 0;
    for (int32_t i = words; i > 0; --i, weight += 4) {
      const uint32_t w =
          *reinterpret_cast<const uint32_t*>(__builtin_assume_aligned(weight, 4)) ^ kSigns;
      even += w & kEven, odd += (w >> 8) & kEven;
    }
    sum += static_cast<int32_t>((even & 0xffff) + (even >> 16) + (odd & 0xffff) + (odd >> 16)) -
           4 * 128 * words;
    length -= 4 * words;
  }
  for (; length > 0; --length) sum += *weight++;
  return sum;
}

class Filters {
 public:
  Filters(const Conv2dArgs& a, const int16_t* windows, int32_t length, const int8_t* weight,
          const int32_t* bias)
      : a_(a),
        weight_(weight),
        bias_(bias),
        dot_{reinterpret_cast<const int32_t*>(windows), weight, length, 0, nullptr} {}

  // Four windows come without the offset: it is in what their sums begin with.
  void choose(int32_t first, int32_t count, bool alone) {
    first_ = first, count_ = count;
    const bool no_bounds = a_.y_min == INT8_MIN && a_.y_max == INT8_MAX,
               has_offset = !alone && a_.x_offset != 0;
    for (int32_t i = 0; i < count; ++i) {
      is_plain_[i] = no_bounds && a_.shift[first + i] == 0 && a_.multiplier[first + i] >= 0 &&
                     a_.multiplier[first + i] < 1 << 30;
      begin_[i] = bias_ ? static_cast<uint32_t>(bias_[first + i]) : 0;
      if (has_offset)
        begin_[i] +=
            static_cast<uint32_t>(a_.x_offset) *
            static_cast<uint32_t>(sum_of(weight_ + (first + i) * dot_.length, dot_.length));
    }
  }

  void meet_four(int8_t* const (&y)[kWindowsAtOnce]) {
    uint32_t sums[kWindowsAtOnce * kFiltersOfSums];
    for (int32_t i = 0; i < count_; i += dot_.filters) {
      take(i, kFiltersOfSums, sums);
      deuteron_dot_4_thumb1(&dot_);
      int8_t spare[kFiltersOfSums];  // of windows that are there to make four
      int8_t* to[kWindowsAtOnce];
      for (int32_t k = 0; k < kWindowsAtOnce; ++k)
        to[k] = k > 0 && y[k] == y[k - 1] ? spare : y[k] + first_ + i;
      for (int32_t f = 0, some; f < dot_.filters; f += some)
        some = finish_four(sums + kWindowsAtOnce * f, i + f, dot_.filters - f, to, f);
    }
  }

  // Filters by tiles; the last ones are met again where their number is no multiple.
  void meet_one(int8_t* y) {
    uint32_t sums[kFiltersOfSums];
    for (int32_t i = 0; i < count_; i += dot_.filters) {
      const int32_t at = count_ - i < kTileAlone ? count_ - kTileAlone : i;
      take(at, kFiltersOfSums, sums);
      dot_.filters = dot_.filters / kTileAlone * kTileAlone;
      deuteron_dot_1x4_thumb1(&dot_);
      for (int32_t f = 0; f < dot_.filters; ++f) y[first_ + at + f] = finish(sums[f], at + f);
    }
  }

 private:
  void take(int32_t i, int32_t most, uint32_t* sums) {
    dot_.weight = weight_ + (first_ + i) * dot_.length, dot_.sums = sums;
    dot_.filters = count_ - i < most ? count_ - i : most;
  }
  // The byte of filter i of those chosen.
  int8_t finish(uint32_t sum, int32_t i) const {
    const int32_t o = first_ + i;
    return requantize_to_s8(begin_[i] + sum, a_.multiplier[o], a_.shift[o], a_.y_zero, a_.y_min,
                            a_.y_max);
  }
  // Of filter i on, as many as are of one kind, 1 to `most`: gives how many. to[k][at]: their
  // bytes.
  int32_t finish_four(const uint32_t* sums, int32_t i, int32_t most,
                      int8_t* const (&to)[kWindowsAtOnce], int32_t at) const {
    int32_t some = 0;
    while (some < most && is_plain_[i + some]) ++some;
    if (some == 0) {
      for (int32_t k = 0; k < kWindowsAtOnce; ++k) to[k][at] = finish(sums[k], i);
      return 1;
    }
    const Thumb1Finish all = {sums, begin_ + i, a_.multiplier + first_ + i,
                              some, a_.y_zero,  {to[0] + at, to[1] + at, to[2] + at, to[3] + at}};
    deuteron_finish_4_thumb1(&all);
    return some;
  }

  const Conv2dArgs& a_;
  const int8_t* weight_;
  const int32_t* bias_;
  Thumb1Dot dot_;
  int32_t first_ = 0, count_ = 0;
  uint32_t begin_[kMostFilters];
  bool is_plain_[kMostFilters];  // as deuteron_finish_4_thumb1() wants its filters
};

}  // namespace deuteron
#endif

// SPDX-License-Identifier: Apache-2.0
// How conv2d_s8_scalar meets filters on Cortex-M3: windows widened to int16 with the offset added,
// four of them element by element in turns with two filters (kernels/dense/dot_scalar.h).
#pragma once
#include <climits>

#include "kernels/conv2d/filters.h"
#include "kernels/conv2d/lane.h"
#include "kernels/dense/dot_scalar.h"
#include "runtime/instruction_set.h"

#if defined(DEUTERON_SCALAR) && DEUTERON_SCALAR >= 2
namespace deuteron {

inline constexpr int32_t kLeastFilters = 2, kMostFilters = INT_MAX / 2;  // of a group; at a time
inline constexpr int32_t kAlone = 1;  // int16 of an element of a window that is met alone
inline constexpr int32_t kWindowsAlignment = alignof(int16_t);

inline const char* why_not_tiles(const Conv2dArgs&) { return nullptr; }

// Writes bytes of a window with the offset added, from `to` on, and gives where the next one goes.
// The step is part of an address: three instructions an element.
template <int32_t step>
[[gnu::noinline]] int16_t* widen(const int8_t* from, int32_t count, int32_t offset, int16_t* to) {
  constexpr int32_t kAtOnce = 8;
  for (; count >= kAtOnce; count -= kAtOnce, from += kAtOnce, to += kAtOnce * step)
#pragma GCC unroll 8
    for (int32_t i = 0; i < kAtOnce; ++i) to[i * step] = static_cast<int16_t>(from[i] + offset);
  for (; count > 0; --count, to += step) *to = static_cast<int16_t>(*from++ + offset);
  return to;
}
// The same of elements outside x.
template <int32_t step>
int16_t* widen_padding(int32_t count, int32_t, int16_t* to) {
  for (; count > 0; --count, to += step) *to = 0;
  return to;
}

inline constexpr Lane kLaneAlone = {widen<kAlone>, widen_padding<kAlone>};
// of window k of four
inline constexpr Lane lane_of(int32_t) {
  return {widen<kWindowsAtOnce>, widen_padding<kWindowsAtOnce>};
}

class Filters {
 public:
  Filters(const Conv2dArgs& a, const int16_t* windows, int32_t length, const int8_t* weight,
          const int32_t* bias)
      : a_(a), weight_(weight), bias_(bias), dot_{windows,  weight,
                                                  length,   nullptr,
                                                  nullptr,  nullptr,
                                                  {},       0,
                                                  a.y_zero, a.y_min,
                                                  a.y_max,  a.y_min != -128 || a.y_max != 127} {}
  void choose(int32_t first, int32_t count, bool /*alone*/) { first_ = first, count_ = count; }
  void meet_one(int8_t* y) {
    run_tiles<deuteron_dot_1x4_scalar>(dot_, a_, first_, count_, kTileAlone, weight_, bias_,
                                       {y, y, y, y});
  }
  void meet_four(int8_t* const (&y)[kWindowsAtOnce]) {
    run_tiles<deuteron_dot_4x2_scalar>(dot_, a_, first_, count_, 2, weight_, bias_, y);
  }

 private:
  const Conv2dArgs& a_;
  const int8_t* weight_;
  const int32_t* bias_;
  ScalarDot dot_;
  int32_t first_ = 0, count_ = 0;
};

}  // namespace deuteron
#endif

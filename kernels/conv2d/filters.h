// SPDX-License-Identifier: Apache-2.0
// Filters of a group, for the inner loops that take them in pairs or fours
// (kernels/dense/dot_dsp.h, kernels/dense/dot_scalar.h).
#pragma once
#include "kernels/conv2d/kernel.h"

namespace deuteron {

inline constexpr int32_t kWindowsAtOnce = 4;
// at a time: zeros stand in the place of their biases
inline constexpr int32_t kFiltersWithoutBias = 64, kNoBias[kFiltersWithoutBias] = {};

// `count` filters from oc on, for the windows that lie widened; y: of their first channels.
template <auto kernel, class Dot>
void run_some_filters(Dot& dot, const Conv2dArgs& a, int32_t oc, int32_t count,
                      const int8_t* weight, const int32_t* bias,
                      int8_t* const (&y)[kWindowsAtOnce]) {
  for (int32_t done = 0; done < count;) {
    const int32_t o = oc + done, left = count - done;
    dot.filters = bias || left < kFiltersWithoutBias ? left : kFiltersWithoutBias;
    dot.weight = weight + o * dot.length, dot.first = bias ? bias + o : kNoBias;
    dot.multiplier = a.multiplier + o, dot.shift = a.shift + o;
    for (int32_t i = 0; i < kWindowsAtOnce; ++i) dot.y[i] = y[i] + o;
    kernel(&dot);
    done += dot.filters;
  }
}

// `count` filters, at least `tile`, by a kernel that takes `tile` of them at a time: the last tile
// overlaps its neighbour where count is no multiple.
template <auto kernel, class Dot>
void run_tiles(Dot& dot, const Conv2dArgs& a, int32_t oc, int32_t count, int32_t tile,
               const int8_t* weight, const int32_t* bias, int8_t* const (&y)[kWindowsAtOnce]) {
  run_some_filters<kernel>(dot, a, oc, count / tile * tile, weight, bias, y);
  if (count % tile != 0) run_some_filters<kernel>(dot, a, oc + count - tile, tile, weight, bias, y);
}

}  // namespace deuteron

// SPDX-License-Identifier: Apache-2.0
// Planes of depthwise windows without vectors (planes_dsp.h, planes_scalar.h,
// planes_thumb1_scalar.h): some rows of four channels on the stack.
#pragma once
#include <cstdint>
#include <cstring>

#include "kernels/depthwise_conv2d/kernel.h"

namespace deuteron {

inline constexpr int32_t kPlanes = 4,
                         // channels, and rows of the input, that lie on the stack at once
    kPlaneRows = 10;

inline int32_t least(int32_t a, int32_t b) { return a < b ? a : b; }

// Columns begin..begin+width-1 of the outputs, and the columns of x under them: columns left..end-1
// of the planes. The others lie outside x and are 0, once and for all rows and channels.
struct PlaneColumns {
  int32_t begin, width, left, end, count;
};

inline PlaneColumns plane_columns(const DepthwiseConv2dArgs& a, int32_t begin, int32_t width) {
  const int32_t iw = begin * a.stride_w - a.pad_w, count = (width - 1) * a.stride_w + a.kernel_w;
  const int32_t left = iw < 0 ? least(-iw, count) : 0, end = least(a.in_w - iw, count);
  return {begin, width, left, end > left ? end : left, count};
}

// Calls run(columns, first channel, planes) for all columns, at most `most` outputs at a time, and
// channels, of which the last ones overlap.
template <class Element, int32_t row_elements, class Run>
inline void for_planes(const DepthwiseConv2dArgs& a, int32_t most, const Run& run) {
  alignas(4) Element planes[kPlanes * kPlaneRows * row_elements];
  for (int32_t begin = 0; begin < a.out_w; begin += most) {
    const PlaneColumns k = plane_columns(a, begin, least(most, a.out_w - begin));
    std::memset(planes, 0, sizeof planes);
    for (int32_t c = 0; c < a.out_c; c += kPlanes) run(k, least(c, a.out_c - kPlanes), planes);
  }
}

}  // namespace deuteron

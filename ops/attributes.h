// SPDX-License-Identifier: Apache-2.0
// Attribute types that several operators use.
#pragma once
#include <limits>
#include <optional>

#include "base/tensor/type.h"

namespace deuteron {

// One number for each image direction, in elements of the image.
struct HW {
  i64 h = 0, w = 0;
  // Along axis 1 of an image, its rows, or axis 2, its columns.
  i64& along(i64 axis) { return axis == 1 ? h : w; }
  i64 along(i64 axis) const { return axis == 1 ? h : w; }
  bool operator==(const HW&) const = default;
};

// Real bounds of a result, fused from relu, relu6, hardtanh or clamp. Infinite: no bound.
struct Bounds {
  float low = -std::numeric_limits<float>::infinity();
  float high = std::numeric_limits<float>::infinity();
  bool none() const {
    return low == -std::numeric_limits<float>::infinity() &&
           high == std::numeric_limits<float>::infinity();
  }
  bool operator==(const Bounds&) const = default;
};

// What a result has of its operand where each slice along one axis stands there so many times, one
// after the other.
struct Repeat {
  i64 axis, times;
};

// Output extent of a window that slides over `extent` elements.
inline i64 out_extent(i64 extent, i64 window, i64 stride, i64 dilation, i64 padding) {
  return (extent + padding - dilation * (window - 1) - 1) / stride + 1;
}

}  // namespace deuteron

// What the checks of bilinear resizing have in common, whatever the elements are.
#pragma once
#include "ops/device/prepare.h"
#include "ops/resize2d/kernel.h"

namespace deuteron {

DEUTERON_FIELDS(Resize2dArgs, n, in_h, in_w, channels, out_h, out_w)

// {first, weight} for each element along an axis of `out` elements.
inline const char* why_not_positions(const Tensor& t, int32_t in, int32_t out) {
  if (const char* why = why_not_dense(t, ScalarType::s32, 2)) return why;
  if (t.sizes[0] != out || t.sizes[1] != 2) return "must have a position and a weight for each element along the axis";
  if (!is_aligned(t, 4)) return "must be 4-aligned";
  if (!t.constant) return "must be a constant";
  const int32_t* v = static_cast<const int32_t*>(t.data);
  for (int32_t i = 0; i < out; ++i) {
    const int32_t first = v[2 * i], weight = v[2 * i + 1];
    if (!lies_in(first, 0, in - 1)) return "has a position outside the axis";
    if (!lies_in(weight, 0, first == in - 1 ? 0 : 1 << kResizeBits)) return "has a weight out of range";
  }
  return nullptr;
}

}  // namespace deuteron

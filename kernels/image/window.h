// SPDX-License-Identifier: Apache-2.0
// A window that slides over one axis of an image, and which of its taps lie inside. Padding is
// clipped away before the inner loops.
#pragma once
#include <cstdint>

namespace deuteron {

// No extent, stride, dilation or padding is larger than this, nor is a start or a reach computed
// from them: sums of two fit int32.
inline constexpr int32_t kMaxReach = 1 << 29;

struct Taps {
  int32_t first, end;  // empty when first == end
};

// The taps t in 0..kernel-1 with 0 <= start + t * dilation < extent.
inline Taps taps_inside(int32_t start, int32_t kernel, int32_t dilation, int32_t extent) {
  int32_t first = start < 0 ? -start : 0;
  int32_t end = extent > start ? extent - start : 0;
  if (dilation != 1) {
    first = (first + dilation - 1) / dilation;
    end = (end + dilation - 1) / dilation;
  }
  if (end > kernel) end = kernel;
  if (first > end) first = end;
  return {first, end};
}

// Can `out` windows slide over `extent` elements without overflow, each beginning inside the input
// or at least where a window of an image padded equally on both sides begins? `pad` stands before
// the first element; behind the last one lies whatever it takes.
inline const char* why_not_window(int32_t extent, int32_t out, int32_t kernel, int32_t stride,
                                  int32_t pad, int32_t dilation) {
  if (extent < 1 || out < 0 || kernel < 1 || stride < 1 || pad < 0 || dilation < 1)
    return "has an extent that is too small";
  const int64_t reach = int64_t{kernel - 1} * dilation,
                last = int64_t{out > 0 ? out - 1 : 0} * stride - pad;
  if (extent > kMaxReach || stride > kMaxReach || pad > kMaxReach || dilation > kMaxReach ||
      reach >= kMaxReach || last >= kMaxReach)
    return "has an extent that is too large";
  if (last >= extent && last > int64_t{extent} + pad - reach - 1)
    return "has more windows than the input has places";
  return nullptr;
}

// What a step may come to: a few vectors behind it fit int32.
inline constexpr int64_t kMaxStep = INT32_MAX - 4096;

// Kernels go from window to window, from tap to tap and from row to row in steps of a stride or a
// dilation times `between`: the elements from a place to the next. Null where such a step fits
// int32. Of a single window or tap it has no meaning, and becomes 1 if it is too large.
inline const char* why_not_steps(int32_t count, int64_t between, int32_t* step) {
  if (*step * between <= kMaxStep) return nullptr;
  if (count > 1) return "has a step from window to window, or from tap to tap, that is too large";
  *step = 1;
  return nullptr;
}

// The same for both axes of a call. A kernel may gather columns of `rows` pixels; where an odd one
// gets an element more, kMaxStep has room.
template <class Args>
[[gnu::noinline]] const char* why_not_large_steps(Args& a, int32_t channels, int32_t rows) {
  const int64_t row = int64_t{a.in_w} * channels;
  if (const char* why = why_not_steps(a.out_h, row, &a.stride_h)) return why;
  if (const char* why = why_not_steps(a.kernel_h, row, &a.dilation_h)) return why;
  if (const char* why = why_not_steps(a.kernel_w, channels, &a.dilation_w)) return why;
  return why_not_steps(a.out_w, int64_t{rows} * channels + 1, &a.stride_w);
}
template <class Args>
[[gnu::always_inline]] inline const char* why_not_steps(Args& a, int32_t channels, int32_t rows) {
  // Of real models no step is larger than 2^30: loading takes a dozen instructions for it.
  if ((a.in_w | channels | rows) < 1 << 12 &&
      (a.stride_h | a.stride_w | a.dilation_h | a.dilation_w) < 1 << 6)
    return nullptr;
  return why_not_large_steps(a, channels, rows);
}

}  // namespace deuteron

// SPDX-License-Identifier: Apache-2.0
// Convolution without vectors: four windows at a time are copied, element by element in turns, and
// meet the filters (tiles_thumb2.h, tiles_thumb1.h).
#include <cstring>

#include "kernels/conv2d/kernel.h"
#include "kernels/conv2d/tiles_thumb1.h"
#include "kernels/conv2d/tiles_thumb2.h"
#include "kernels/conv2d/windows.h"
#include "kernels/image/window.h"
#include "runtime/instruction_set.h"

#if defined(DEUTERON_SCALAR)
namespace deuteron {
namespace {

// int16 of windows that may lie on the stack, where the scratch has no room
constexpr int32_t kStackElements = 2560;

// Row and column of x where a window begins; may be outside.
struct ScalarPlace {
  int32_t ih, iw;
};

struct Convolution {
  const Conv2dArgs& a;
  const int8_t* image;  // of the batch
  int32_t length, channel;
  int16_t* windows;
  bool in_one_piece,
      has_whole_rows;      // every window lies in x as it is wanted; or each row of its taps does
  int32_t last_h, last_w;  // a window inside x begins at 0..last_h, 0..last_w
};

void widen_window(const Convolution& c, const ScalarPlace& at, const Lane& lane, int16_t* to) {
  const Conv2dArgs& a = c.a;
  const auto skip = [&](int32_t count) { to = lane.widen_padding(count, a.x_offset, to); };
  if (c.in_one_piece) {
    lane.widen(c.image + (at.ih * a.in_w + at.iw) * a.in_c + c.channel, c.length, a.x_offset, to);
    return;
  }
  if (c.has_whole_rows && at.ih >= 0 && at.iw >= 0 && at.ih <= c.last_h && at.iw <= c.last_w) {
    const int8_t* from = c.image + (at.ih * a.in_w + at.iw) * a.in_c;
    for (int32_t kh = a.kernel_h; kh > 0; --kh, from += a.dilation_h * a.in_w * a.in_c)
      to = lane.widen(from, a.kernel_w * a.kernel_c, a.x_offset, to);
    return;
  }
  const Taps h = taps_inside(at.ih, a.kernel_h, a.dilation_h, a.in_h),
             w = taps_inside(at.iw, a.kernel_w, a.dilation_w, a.in_w);
  const int32_t tap_step = a.dilation_w * a.in_c;
  skip(h.first * a.kernel_w * a.kernel_c);
  for (int32_t kh = h.first; kh < h.end; ++kh) {
    const int8_t* from =
        c.image + ((at.ih + kh * a.dilation_h) * a.in_w + at.iw + w.first * a.dilation_w) * a.in_c +
        c.channel;
    skip(w.first * a.kernel_c);
    if (c.has_whole_rows) to = lane.widen(from, (w.end - w.first) * a.kernel_c, a.x_offset, to);
    else
      for (int32_t kw = w.first; kw < w.end; ++kw, from += tap_step)
        to = lane.widen(from, a.kernel_c, a.x_offset, to);
    skip((a.kernel_w - w.end) * a.kernel_c);
  }
  skip((a.kernel_h - h.end) * a.kernel_w * a.kernel_c);
}

// Windows of an image and the filters that were chosen.
void run_windows(const Convolution& c, Filters& filters, int8_t* y) {
  const Conv2dArgs& a = c.a;
  const int32_t windows = a.out_h * a.out_w, behind = a.out_w * a.stride_w - a.pad_w;
  ScalarPlace at{-a.pad_h, -a.pad_w};
  for (int32_t i = 0; i < windows; i += kWindowsAtOnce) {
    int8_t* out[kWindowsAtOnce];
    for (int32_t k = 0; k < kWindowsAtOnce; ++k) {
      const bool is_one = i + k < windows;  // else the one before once more, for the same place
      out[k] = is_one ? y + (i + k) * a.out_c : out[k - 1];
      if (!is_one) {
        for (int32_t e = 0; e < c.length; ++e)
          c.windows[kWindowsAtOnce * e + k] = c.windows[kWindowsAtOnce * e + k - 1];
        continue;
      }
      widen_window(c, at, lane_of(k), c.windows + k);
      at.iw += a.stride_w;
      if (at.iw == behind) at.iw = -a.pad_w, at.ih += a.stride_h;
    }
    filters.meet_four(out);
  }
}

bool is_alone(const Conv2dArgs& a, int32_t filters) {
  return a.out_h * a.out_w == 1 && filters >= kTileAlone;
}

void run_image(const Convolution& c, Filters& filters, int32_t first, int32_t count, int8_t* y) {
  const bool alone = is_alone(c.a, count);
  if (alone) widen_window(c, {-c.a.pad_h, -c.a.pad_w}, kLaneAlone, c.windows);
  for (int32_t done = 0, some; done < count; done += some) {
    const int32_t left = count - done;
    some = left <= kMostFilters               ? left
           : left < kMostFilters + kTileAlone ? kMostFilters - kTileAlone
                                              : kMostFilters;  // a tile at least
    filters.choose(first + done, some, alone);
    if (alone) filters.meet_one(y);
    else run_windows(c, filters, y);
  }
}

void run(const Conv2dArgs& a, const int8_t* x, const int8_t* weight, const int32_t* bias,
         int16_t* windows, int8_t* y) {
  const int32_t length = a.kernel_h * a.kernel_w * a.kernel_c, groups = a.in_c / a.kernel_c,
                count = a.out_c / groups;
  Convolution c{a,
                x,
                length,
                0,
                windows,
                windows_in_one_piece(a),
                a.kernel_c == a.in_c && a.dilation_w == 1,
                a.in_h - 1 - (a.kernel_h - 1) * a.dilation_h,
                a.in_w - 1 - (a.kernel_w - 1) * a.dilation_w};
  Filters filters(a, windows, length, weight, bias);
  for (int32_t n = 0; n < a.n;
       ++n, c.image += a.in_h * a.in_w * a.in_c, y += a.out_h * a.out_w * a.out_c)
    for (int32_t g = 0; g < groups; ++g) {
      c.channel = g * a.kernel_c;
      run_image(c, filters, g * count, count, y);
    }
}

[[gnu::noinline]] void run_on_stack(const Conv2dArgs& a, const int8_t* x, const int8_t* weight,
                                    const int32_t* bias, int8_t* y) {
  alignas(kWindowsAlignment) int16_t windows[kStackElements];
  run(a, x, weight, bias, windows, y);
}

}  // namespace

void conv2d_s8_scalar(const Conv2dArgs& a, const int8_t* x, const int8_t* weight,
                      const int32_t* bias, void* scratch, int32_t scratch_bytes, int8_t* y) {
  const int32_t length = a.kernel_h * a.kernel_w * a.kernel_c,
                filters = a.out_c / (a.in_c / a.kernel_c);
  const int64_t elements = int64_t{is_alone(a, filters) ? kAlone : kWindowsAtOnce} * length;
  const int32_t room =
      reinterpret_cast<uintptr_t>(scratch) % kWindowsAlignment == 0 ? scratch_bytes / 2 : 0;
  if (filters < kLeastFilters || why_not_tiles(a)) conv2d_s8(a, x, weight, bias, y);
  else if (room >= elements) run(a, x, weight, bias, static_cast<int16_t*>(scratch), y);
  else if (elements <= kStackElements) run_on_stack(a, x, weight, bias, y);
  else conv2d_s8(a, x, weight, bias, y);
}

}  // namespace deuteron
#endif

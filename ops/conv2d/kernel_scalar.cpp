// Convolution for Cortex-M3: four windows at a time are widened to int16 and meet two filters at a time (ops/dense/dot_scalar.h).
#include <cstring>

#include "ops/conv2d/filters.h"
#include "ops/conv2d/kernel.h"
#include "ops/conv2d/windows.h"
#include "ops/dense/dot_scalar.h"
#include "ops/image/window.h"
#include "runtime/instruction_set.h"

#if defined(DEUTERON_THUMB2)
namespace deuteron {
namespace {

constexpr int32_t kStackElements = 2560;  // of windows that may lie on the stack, where the scratch has no room

// Row and column of x where a window begins; may be outside.
struct ScalarPlace {
  int32_t ih, iw;
};

// Writes bytes of x with the offset added, from `to` on, and gives where the next one goes.
using Widen = int16_t* (*)(const int8_t* from, int32_t count, int32_t offset, int16_t* to);

struct Convolution {
  const Conv2dArgs& a;
  const int8_t* image;            // of the batch
  int32_t length, channel, step;  // step: elements from one of a window to the next
  Widen widen;                    // with that step
  int16_t* windows;
  bool in_one_piece, has_whole_rows;  // every window lies in x as it is wanted; or each row of its taps does
  int32_t last_h, last_w;             // a window inside x begins at 0..last_h, 0..last_w
};

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
int16_t* skip(const Convolution& c, int32_t count, int16_t* to) {
  for (; count > 0; --count, to += c.step) *to = 0;
  return to;
}

void widen_window(const Convolution& c, const ScalarPlace& at, int16_t* to) {
  const Conv2dArgs& a = c.a;
  if (c.in_one_piece) {
    c.widen(c.image + (at.ih * a.in_w + at.iw) * a.in_c + c.channel, c.length, a.x_offset, to);
    return;
  }
  if (c.has_whole_rows && at.ih >= 0 && at.iw >= 0 && at.ih <= c.last_h && at.iw <= c.last_w) {
    const int8_t* from = c.image + (at.ih * a.in_w + at.iw) * a.in_c;
    for (int32_t kh = a.kernel_h; kh > 0; --kh, from += a.dilation_h * a.in_w * a.in_c)
      to = c.widen(from, a.kernel_w * a.kernel_c, a.x_offset, to);
    return;
  }
  const Taps h = taps_inside(at.ih, a.kernel_h, a.dilation_h, a.in_h), w = taps_inside(at.iw, a.kernel_w, a.dilation_w, a.in_w);
  const int32_t tap_step = a.dilation_w * a.in_c;
  to = skip(c, h.first * a.kernel_w * a.kernel_c, to);
  for (int32_t kh = h.first; kh < h.end; ++kh) {
    const int8_t* from = c.image + ((at.ih + kh * a.dilation_h) * a.in_w + at.iw + w.first * a.dilation_w) * a.in_c + c.channel;
    to = skip(c, w.first * a.kernel_c, to);
    if (c.has_whole_rows) to = c.widen(from, (w.end - w.first) * a.kernel_c, a.x_offset, to);
    else
      for (int32_t kw = w.first; kw < w.end; ++kw, from += tap_step) to = c.widen(from, a.kernel_c, a.x_offset, to);
    to = skip(c, (a.kernel_w - w.end) * a.kernel_c, to);
  }
  skip(c, (a.kernel_h - h.end) * a.kernel_w * a.kernel_c, to);
}

void run_image(const Convolution& c, ScalarDot& dot, int32_t first, int32_t filters, const int8_t* weight, const int32_t* bias, int8_t* y) {
  const Conv2dArgs& a = c.a;
  const int32_t windows = a.out_h * a.out_w, behind = a.out_w * a.stride_w - a.pad_w;
  ScalarPlace at{-a.pad_h, -a.pad_w};
  if (windows == 1 && filters >= 4) {
    Convolution alone = c;
    alone.step = 1, alone.widen = widen<1>;
    widen_window(alone, at, c.windows);
    return run_tiles(dot, a, first, filters, 4, weight, bias, {y, y, y, y}, deuteron_dot_1x4_scalar);
  }
  for (int32_t i = 0; i < windows; i += kWindowsAtOnce) {
    int8_t* out[kWindowsAtOnce];
    for (int32_t k = 0; k < kWindowsAtOnce; ++k) {
      const bool is_one = i + k < windows;  // else the one before once more, whose sums nobody reads
      out[k] = is_one ? y + (i + k) * a.out_c : out[k - 1];
      if (!is_one) {
        for (int32_t e = 0; e < c.length; ++e) c.windows[kWindowsAtOnce * e + k] = c.windows[kWindowsAtOnce * e + k - 1];
        continue;
      }
      widen_window(c, at, c.windows + k);
      at.iw += a.stride_w;
      if (at.iw == behind) at.iw = -a.pad_w, at.ih += a.stride_h;
    }
    run_tiles(dot, a, first, filters, 2, weight, bias, out, deuteron_dot_4x2_scalar);
  }
}

void run(const Conv2dArgs& a, const int8_t* x, const int8_t* weight, const int32_t* bias, int16_t* windows, int8_t* y) {
  const int32_t length = a.kernel_h * a.kernel_w * a.kernel_c, groups = a.in_c / a.kernel_c, filters = a.out_c / groups;
  Convolution c{a,
                x,
                length,
                0,
                kWindowsAtOnce,
                widen<kWindowsAtOnce>,
                windows,
                windows_in_one_piece(a),
                a.kernel_c == a.in_c && a.dilation_w == 1,
                a.in_h - 1 - (a.kernel_h - 1) * a.dilation_h,
                a.in_w - 1 - (a.kernel_w - 1) * a.dilation_w};
  ScalarDot dot{windows, weight, length, nullptr, nullptr, nullptr, {}, 0, a.y_zero, a.y_min, a.y_max, a.y_min != -128 || a.y_max != 127};
  for (int32_t n = 0; n < a.n; ++n, c.image += a.in_h * a.in_w * a.in_c, y += a.out_h * a.out_w * a.out_c)
    for (int32_t g = 0; g < groups; ++g) {
      c.channel = g * a.kernel_c;
      run_image(c, dot, g * filters, filters, weight, bias, y);
    }
}

[[gnu::noinline]] void run_on_stack(const Conv2dArgs& a, const int8_t* x, const int8_t* weight, const int32_t* bias, int8_t* y) {
  int16_t windows[kStackElements];
  run(a, x, weight, bias, windows, y);
}

}  // namespace

void conv2d_s8_scalar(const Conv2dArgs& a, const int8_t* x, const int8_t* weight, const int32_t* bias, void* scratch, int32_t scratch_bytes,
                      int8_t* y) {
  const int32_t length = a.kernel_h * a.kernel_w * a.kernel_c, filters = a.out_c / (a.in_c / a.kernel_c);
  const int64_t elements = int64_t{a.out_h * a.out_w == 1 && filters >= 4 ? 1 : kWindowsAtOnce} * length;
  const int32_t room = reinterpret_cast<uintptr_t>(scratch) % 2 == 0 ? scratch_bytes / 2 : 0;
  if (filters < 2) conv2d_s8(a, x, weight, bias, y);
  else if (room >= elements) run(a, x, weight, bias, static_cast<int16_t*>(scratch), y);
  else if (elements <= kStackElements) run_on_stack(a, x, weight, bias, y);
  else conv2d_s8(a, x, weight, bias, y);
}

}  // namespace deuteron
#endif

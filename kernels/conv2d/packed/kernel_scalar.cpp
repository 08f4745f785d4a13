// SPDX-License-Identifier: Apache-2.0
// Convolution with packed weights without vectors and the DSP extension: four windows at a time are
// copied as two pairs, without an offset, and meet all filters; a window that is alone is read
// where it lies.
#include <cstring>

#include "kernels/conv2d/packed/kernel.h"
#include "kernels/dense/packed_scalar.h"
#include "kernels/dense/packed_thumb1_scalar.h"
#include "kernels/image/window.h"
#include "runtime/instruction_set.h"

#if defined(DEUTERON_SCALAR)
namespace deuteron {
namespace {

constexpr int32_t kAtOnce = 4, kPairs = kAtOnce / 2;  // windows

// Two elements as the loops of the core want them.
inline int32_t both(int32_t x0, int32_t x1) {
  return DEUTERON_SCALAR == 1 ? negative_pair_of(x0, x1) : pair_of(x0, x1);
}

// Row and column of x where a window begins; may be outside.
struct WindowCorner {
  int32_t ih, iw;
};

// Elements of two windows, which lie in x or are all the same one.
struct Elements {
  const int8_t* at;
  int32_t step;
};

[[gnu::noinline]] int32_t* copy_two(const int8_t* x0, const int8_t* x1, int32_t count,
                                    int32_t* to) {
  for (; count >= 4; count -= 4, x0 += 4, x1 += 4, to += 4 * kPairs)
#pragma GCC unroll 4
    for (int32_t i = 0; i < 4; ++i) to[i * kPairs] = both(x0[i], x1[i]);
  for (; count > 0; --count, to += kPairs) *to = both(*x0++, *x1++);
  return to;
}

int32_t* copy_some(Elements x0, Elements x1, int32_t count, int32_t* to) {
  if (x0.step != 0 && x1.step != 0) return copy_two(x0.at, x1.at, count, to);
  for (; count > 0; --count, x0.at += x0.step, x1.at += x1.step, to += kPairs)
    *to = both(*x0.at, *x1.at);
  return to;
}

struct Windows {
  const PackedConv2dArgs& a;
  const int8_t* image;     // of the batch
  bool are_rows;           // every row of taps lies in x as it is wanted
  int32_t last_h, last_w;  // a window inside x begins at 0..last_h, 0..last_w
  int8_t zero;

  bool is_inside(const WindowCorner& p) const {
    return p.ih >= 0 && p.iw >= 0 && p.ih <= last_h && p.iw <= last_w;
  }
  const int8_t* at(const WindowCorner& p) const { return image + (p.ih * a.in_w + p.iw) * a.in_c; }
};

// A row of taps of two windows, of which some lie outside x: parts of it, in each of which the same
// windows do.
int32_t* copy_row(const Windows& w, const WindowCorner& p0, const WindowCorner& p1, int32_t* to) {
  const PackedConv2dArgs& a = w.a;
  const auto inside = [&a](const WindowCorner& p) {
    return p.ih >= 0 && p.ih < a.in_h ? taps_inside(p.iw, a.kernel_w, a.dilation_w, a.in_w)
                                      : Taps{0, 0};
  };
  const Taps t0 = inside(p0), t1 = inside(p1);
  for (int32_t kw = 0; kw < a.kernel_w;) {
    int32_t end = a.kernel_w;
    if (a.dilation_w != 1) end = kw + 1;
    const auto part = [&](const Taps& t, const WindowCorner& p) -> Elements {
      if (kw < t.first) return end = t.first < end ? t.first : end, Elements{&w.zero, 0};
      if (kw >= t.end) return {&w.zero, 0};
      return end = t.end < end ? t.end : end, Elements{w.at(p) + kw * a.dilation_w * a.in_c, 1};
    };
    const Elements x0 = part(t0, p0), x1 = part(t1, p1);
    to = copy_some(x0, x1, (end - kw) * a.in_c, to);
    kw = end;
  }
  return to;
}

void copy_pair(const Windows& w, WindowCorner p0, WindowCorner p1, int32_t* to) {
  const PackedConv2dArgs& a = w.a;
  if (w.are_rows && w.is_inside(p0) && w.is_inside(p1)) {
    const int8_t *x0 = w.at(p0), *x1 = w.at(p1);
    const int32_t row = a.kernel_w * a.in_c, step = a.dilation_h * a.in_w * a.in_c;
    for (int32_t kh = a.kernel_h; kh > 0; --kh, x0 += step, x1 += step)
      to = copy_two(x0, x1, row, to);
    return;
  }
  for (int32_t kh = a.kernel_h; kh > 0; --kh, p0.ih += a.dilation_h, p1.ih += a.dilation_h)
    to = copy_row(w, p0, p1, to);
}

void run_windows(const PackedConv2dArgs& a, const int8_t* x, const int8_t* packed, int32_t* windows,
                 int8_t* y) {
  const int32_t length = a.length(), whole = (length + kPackedQuad - 1) / kPackedQuad * kPackedQuad;
  Windows w{a,
            x,
            a.kernel_w == 1 || a.dilation_w == 1,
            a.in_h - 1 - (a.kernel_h - 1) * a.dilation_h,
            a.in_w - 1 - (a.kernel_w - 1) * a.dilation_w,
            static_cast<int8_t>(a.x_zero)};
  const int8_t* const behind = packed + a.out_c * (whole + kFilterNumbers);
  ScalarPackedWindows k{windows,  packed, a.has_shifts ? behind : nullptr, whole, a.out_c,
                        a.y_zero, {}};
  // What no element of a window is written to: its weights are 0.
  for (int32_t i = length * kPairs; i < whole * kPairs; ++i) windows[i] = 0;
  const int32_t count = a.out_h * a.out_w, next_row = a.out_w * a.stride_w - a.pad_w;
  for (int32_t n = 0; n < a.n; ++n, w.image += a.in_h * a.in_w * a.in_c) {
    WindowCorner at{-a.pad_h, -a.pad_w};
    for (int32_t left = count; left > 0; left -= kAtOnce) {
      WindowCorner places[kAtOnce];
      for (int32_t i = 0; i < kAtOnce; ++i) {
        places[i] = at, k.y[i] = y;
        if (i >= left - 1) continue;  // the last one once more, for the same place
        at.iw += a.stride_w, y += a.y_step;
        if (at.iw == next_row)
          at.iw = -a.pad_w, at.ih += a.stride_h, y += a.y_row - a.out_w * a.y_step;
      }
      for (int32_t i = 0; i < kPairs; ++i)
        copy_pair(w, places[2 * i], places[2 * i + 1], windows + i);
      deuteron_packed_windows_scalar(&k);
    }
    y += a.y_step + a.y_row - a.out_w * a.y_step;  // behind the last one
  }
}

}  // namespace

void packed_conv2d_s8_scalar_alone(const PackedConv2dArgs& a, const int8_t* x, const int8_t* packed,
                                   int8_t* y) {
  const int32_t length = a.length(),
                step = (length + kPackedQuad - 1) / kPackedQuad * kPackedQuad + kFilterNumbers;
  const int8_t* const shifts = a.has_shifts ? packed + a.out_c * step : nullptr;
  ScalarPackedWindow k{x, packed, shifts, length, step, a.out_c / kAtOnce * kAtOnce, a.y_zero, y};
  if (k.filters > 0) deuteron_packed_window_scalar(&k);
  const int32_t rest = a.out_c % kAtOnce;
  if (rest == 0) return;
  // The last four, some of them once more; one of fewer is four times the same.
  int8_t out[kAtOnce];
  const int32_t first = a.out_c - kAtOnce;
  k.filters = kAtOnce;
  if (first >= 0) {
    k.packed = packed + first * step, k.y = y + first;
    if (shifts) k.shifts = shifts + first * kShiftBytes;
    return deuteron_packed_window_scalar(&k);
  }
  k.step = 0;
  for (int32_t i = 0; i < rest; ++i) {
    k.packed = packed + i * step, k.y = out;
    if (shifts) k.shifts = shifts + i * kShiftBytes;
    deuteron_packed_window_scalar(&k);
    y[i] = out[0];
  }
}

void packed_conv2d_s8_scalar_in_scratch(const PackedConv2dArgs& a, const int8_t* x,
                                        const int8_t* packed, void* scratch, int32_t, int8_t* y) {
  if (packed_conv2d_is_alone(a)) packed_conv2d_s8_scalar_alone(a, x, packed, y);
  else run_windows(a, x, packed, static_cast<int32_t*>(scratch), y);
}

void packed_conv2d_s8_scalar(const PackedConv2dArgs& a, const int8_t* x, const int8_t* packed,
                             void* scratch, int32_t scratch_bytes, int8_t* y) {
  if (scratch_bytes >= packed_conv2d_windows_bytes(a, Packing::scalar_1x4))
    return packed_conv2d_s8_scalar_in_scratch(a, x, packed, scratch, scratch_bytes, y);
  int32_t windows[kPackedStack / 2];
  run_windows(a, x, packed, windows, y);
}

}  // namespace deuteron
#endif

// SPDX-License-Identifier: Apache-2.0
// Windows of a convolution, widened to int16 side by side for the DSP extension: what the kernels
// on plain and on packed weights gather.
#pragma once
#include <cstring>

#include "kernels/conv2d/filters.h"
#include "kernels/conv2d/kernel.h"
#include "kernels/conv2d/windows.h"
#include "kernels/dense/dot_dsp.h"
#include "kernels/image/window.h"

namespace deuteron {

inline constexpr int32_t kTemporary = 256;  // elements of a window whose rows are no whole quads
template <class AtOnce>
inline constexpr int32_t kMostAtOnce = AtOnce::value;
template <>
inline constexpr int32_t kMostAtOnce<int32_t> = kWindowsAtOnce;

// Row and column of x where a window begins; may be outside.
struct DspPlace {
  int32_t ih, iw;
};

// The windows of a call, and how they lie. AtOnce: int32_t, or a constant where all calls have as
// many side by side.
template <class AtOnce>
struct DspWindows {
  const Conv2dArgs& a;
  const int8_t* image;  // of the batch
  int32_t length, quads, rest, channel;
  AtOnce at_once;
  int16_t* windows;
  uint32_t offset;         // added to x, in both halves
  int16_t outside;         // what an element outside x becomes
  bool in_one_piece;       // every window lies in x as it is wanted
  bool has_quads;          // every tap is whole quads
  int32_t row;             // elements of a row of taps where it lies in one piece in x, else 0
  int32_t last_h, last_w;  // a window inside x begins at 0..last_h, 0..last_w
};

template <class AtOnce>
inline DspWindows<AtOnce> windows_of(const Conv2dArgs& a, const int8_t* x, int16_t* to,
                                     AtOnce at_once, int32_t offset, int16_t outside) {
  const uint32_t low = static_cast<uint32_t>(offset) & 0xffff;
  const int32_t length = a.kernel_h * a.kernel_w * a.kernel_c;
  return {a,
          x,
          length,
          length / kDspQuad,
          length % kDspQuad,
          0,
          at_once,
          to,
          low << 16 | low,
          outside,
          windows_in_one_piece(a),
          a.kernel_c % kDspQuad == 0,
          a.kernel_c == a.in_c && a.dilation_w == 1 ? a.kernel_w * a.kernel_c : 0,
          a.in_h - 1 - (a.kernel_h - 1) * a.dilation_h,
          a.in_w - 1 - (a.kernel_w - 1) * a.dilation_w};
}

// What the last quad of a window is where its length is no multiple of four: the elements before
// the rest are as good as absent.
inline void rest_of_window(const int8_t* window, int32_t length, int32_t rest, int32_t outside,
                           int8_t (&quad)[kDspQuad]) {
  std::memcpy(quad, window + length - kDspQuad, sizeof quad);
  std::memset(quad, outside, static_cast<size_t>(kDspQuad - rest));
}

// `windows` of them side by side, each in one piece.
template <class AtOnce>
inline int16_t* widen_side_by_side(const DspWindows<AtOnce>& c,
                                   const int8_t* const (&x)[kWindowsAtOnce], int32_t quads,
                                   int16_t* to) {
  return c.at_once == 4 ? deuteron_widen_four_dsp(x, quads, to, c.offset)
                        : deuteron_widen_two_dsp(x[0], x[1], quads, to, c.offset);
}
template <class AtOnce>
inline void widen_pieces(const DspWindows<AtOnce>& c, const int8_t* const (&x)[kWindowsAtOnce]) {
  int16_t* to = widen_side_by_side(c, x, c.quads, c.windows);
  if (c.rest == 0) return;
  int8_t quads[kWindowsAtOnce][kDspQuad];
  for (int32_t i = 0; i < kWindowsAtOnce; ++i)
    if (i < c.at_once) rest_of_window(x[i], c.length, c.rest, -c.a.x_offset, quads[i]);
  widen_side_by_side(c, {quads[0], quads[1], quads[2], quads[3]}, 1, to);
}

// `quads` quads of one of the windows that lie outside x.
template <class AtOnce>
inline int16_t* skip_quads(const DspWindows<AtOnce>& c, int32_t quads, int16_t* to) {
  const uint32_t one = static_cast<uint16_t>(c.outside), both = one << 16 | one;
  for (; quads > 0; --quads, to += 4 * c.at_once) {
    std::memcpy(to, &both, sizeof both);
    std::memcpy(to + 2 * c.at_once, &both, sizeof both);
  }
  return to;
}

// One of the windows, at row ih and column iw, which may lie outside; taps are whole quads.
template <class AtOnce>
inline void widen_taps(const DspWindows<AtOnce>& c, int32_t ih, int32_t iw, int16_t* to) {
  const Conv2dArgs& a = c.a;
  const int32_t tap = a.kernel_c / kDspQuad, step = a.dilation_w * a.in_c;
  const Taps h = taps_inside(ih, a.kernel_h, a.dilation_h, a.in_h),
             w = taps_inside(iw, a.kernel_w, a.dilation_w, a.in_w);
  to = skip_quads(c, h.first * a.kernel_w * tap, to);
  for (int32_t kh = h.first; kh < h.end; ++kh) {
    const int8_t* from =
        c.image + ((ih + kh * a.dilation_h) * a.in_w + iw + w.first * a.dilation_w) * a.in_c +
        c.channel;
    to = skip_quads(c, w.first * tap, to);
    if (step == a.kernel_c)
      to = deuteron_widen_dsp(from, (w.end - w.first) * tap, to, c.offset, c.at_once);
    else
      for (int32_t kw = w.first; kw < w.end; ++kw, from += step)
        to = deuteron_widen_dsp(from, tap, to, c.offset, c.at_once);
    to = skip_quads(c, (a.kernel_w - w.end) * tap, to);
  }
  skip_quads(c, (a.kernel_h - h.end) * a.kernel_w * tap, to);
}

// A few bytes: word by word, and the last ones by themselves.
[[gnu::always_inline]] inline int8_t* copy_row(const int8_t* from, int32_t count, int8_t* to) {
  for (; count >= 4; count -= 4, from += 4, to += 4) std::memcpy(to, from, 4);
  for (; count > 0; --count) *to++ = *from++;
  return to;
}

// One window in one piece in `to`, what lies outside x as its zero point.
template <class AtOnce>
inline void copy_taps(const DspWindows<AtOnce>& c, int32_t ih, int32_t iw, int8_t* to) {
  const Conv2dArgs& a = c.a;
  const int32_t step = a.dilation_w * a.in_c;
  const Taps h = taps_inside(ih, a.kernel_h, a.dilation_h, a.in_h),
             w = taps_inside(iw, a.kernel_w, a.dilation_w, a.in_w);
  const auto skip = [&](int32_t taps) {
    std::memset(to, -a.x_offset, static_cast<size_t>(taps * a.kernel_c));
    to += taps * a.kernel_c;
  };
  if (h.first > 0) skip(h.first * a.kernel_w);
  for (int32_t kh = h.first; kh < h.end; ++kh) {
    const int8_t* from =
        c.image + ((ih + kh * a.dilation_h) * a.in_w + iw + w.first * a.dilation_w) * a.in_c +
        c.channel;
    if (w.first > 0) skip(w.first);
    if (c.row > 0) to = copy_row(from, (w.end - w.first) * a.kernel_c, to);
    else
      for (int32_t kw = w.first; kw < w.end; ++kw, from += step)
        to = copy_row(from, a.kernel_c, to);
    if (w.end < a.kernel_w) skip(a.kernel_w - w.end);
  }
  if (h.end < a.kernel_h) skip((a.kernel_h - h.end) * a.kernel_w);
}

// The same of one inside x, whose rows of taps lie in one piece each.
template <class AtOnce>
inline void copy_rows(const DspWindows<AtOnce>& c, const int8_t* from, int8_t* to) {
  const int32_t step = c.a.dilation_h * c.a.in_w * c.a.in_c;
  for (int32_t kh = c.a.kernel_h; kh > 0; --kh, from += step) to = copy_row(from, c.row, to);
}

template <class AtOnce>
inline void widen_all(const DspWindows<AtOnce>& c, const DspPlace (&places)[kWindowsAtOnce]) {
  const Conv2dArgs& a = c.a;
  const int8_t* x[kWindowsAtOnce];
  bool inside = true;
  for (int32_t i = 0; i < kWindowsAtOnce; ++i) {
    const DspPlace& at = places[i];
    x[i] = c.image + (at.ih * a.in_w + at.iw) * a.in_c + c.channel;
    inside = inside && at.ih >= 0 && at.iw >= 0 && at.ih <= c.last_h && at.iw <= c.last_w;
  }
  if (c.in_one_piece) return widen_pieces(c, x);
  if (c.row > 0 && c.row % kDspQuad == 0 && inside) {
    const int32_t step = a.dilation_h * a.in_w * a.in_c;
    int16_t* to = c.windows;
    for (int32_t kh = a.kernel_h; kh > 0; --kh) {
      to = widen_side_by_side(c, x, c.row / kDspQuad, to);
      for (int32_t i = 0; i < kWindowsAtOnce; ++i) x[i] += step;
    }
  } else if (c.has_quads) {
    for (int32_t i = 0; i < c.at_once; ++i)
      widen_taps(c, places[i].ih, places[i].iw, c.windows + 2 * i);
  } else {
    constexpr int32_t kMost = kMostAtOnce<AtOnce>;
    int8_t copies[kMost][kTemporary];
    for (int32_t i = 0; i < kMost; ++i)
      if (i < c.at_once && inside && c.row > 0) copy_rows(c, x[i], copies[i]);
      else if (i < c.at_once) copy_taps(c, places[i].ih, places[i].iw, copies[i]);
    widen_pieces(c, {copies[0], copies[1], copies[kMost - 2], copies[kMost - 1]});
  }
}

}  // namespace deuteron

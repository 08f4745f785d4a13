// Convolution with the DSP extension: four windows at a time are widened to int16 and meet one filter after the other, or two
// windows two filters at a time where there is no room for four (ops/dense/dot_dsp.h).
#include <cstring>

#include "ops/conv2d/filters.h"
#include "ops/conv2d/kernel.h"
#include "ops/conv2d/windows.h"
#include "ops/dense/dot_dsp.h"
#include "ops/image/window.h"

namespace deuteron {
namespace {

constexpr int32_t kStackElements = 2048;  // of windows that may lie on the stack, where the scratch has no room
constexpr int32_t kTemporary = 256;       // elements of a window whose rows are no whole quads

// Row and column of x where a window begins; may be outside.
struct Place {
  int32_t ih, iw;
};

struct Convolution {
  const Conv2dArgs& a;
  const int8_t* image;  // of the batch
  int32_t length, quads, rest, channel, at_once;
  int16_t* windows;
  uint32_t offset;         // of x, in both halves
  bool in_one_piece;       // every window lies in x as it is wanted
  bool has_quads;          // every tap is whole quads
  int32_t row;             // elements of a row of taps where it lies in one piece in x, else 0
  int32_t last_h, last_w;  // a window inside x begins at 0..last_h, 0..last_w
};

// What the last quad of a window is where its length is no multiple of four: the elements before the rest are as good as absent.
void rest_of(const Convolution& c, const int8_t* window, int8_t (&quad)[kDspQuad]) {
  std::memcpy(quad, window + c.length - kDspQuad, sizeof quad);
  std::memset(quad, -c.a.x_offset, static_cast<size_t>(kDspQuad - c.rest));
}

// `windows` of them side by side, each in one piece.
int16_t* widen_side_by_side(const Convolution& c, const int8_t* const (&x)[kWindowsAtOnce], int32_t quads, int16_t* to) {
  return c.at_once == 4 ? deuteron_widen_four_dsp(x, quads, to, c.offset) : deuteron_widen_two_dsp(x[0], x[1], quads, to, c.offset);
}
void widen_pieces(const Convolution& c, const int8_t* const (&x)[kWindowsAtOnce]) {
  int16_t* to = widen_side_by_side(c, x, c.quads, c.windows);
  if (c.rest == 0) return;
  int8_t quads[kWindowsAtOnce][kDspQuad];
  for (int32_t i = 0; i < kWindowsAtOnce; ++i)
    if (i < c.at_once) rest_of(c, x[i], quads[i]);
  widen_side_by_side(c, {quads[0], quads[1], quads[2], quads[3]}, 1, to);
}

// Zeros for `quads` quads of one of the windows.
int16_t* skip_quads(const Convolution& c, int32_t quads, int16_t* to) {
  const int32_t pair = 2 * c.at_once;
  for (int32_t i = 0; i < quads; ++i, to += 2 * pair) to[0] = to[1] = to[pair] = to[pair + 1] = 0;
  return to;
}

// One of the windows, at row ih and column iw, which may lie outside; taps are whole quads.
void widen_taps(const Convolution& c, int32_t ih, int32_t iw, int16_t* to) {
  const Conv2dArgs& a = c.a;
  const int32_t tap = a.kernel_c / kDspQuad, step = a.dilation_w * a.in_c;
  const Taps h = taps_inside(ih, a.kernel_h, a.dilation_h, a.in_h), w = taps_inside(iw, a.kernel_w, a.dilation_w, a.in_w);
  to = skip_quads(c, h.first * a.kernel_w * tap, to);
  for (int32_t kh = h.first; kh < h.end; ++kh) {
    const int8_t* from = c.image + ((ih + kh * a.dilation_h) * a.in_w + iw + w.first * a.dilation_w) * a.in_c + c.channel;
    to = skip_quads(c, w.first * tap, to);
    if (step == a.kernel_c) to = deuteron_widen_dsp(from, (w.end - w.first) * tap, to, c.offset, c.at_once);
    else
      for (int32_t kw = w.first; kw < w.end; ++kw, from += step) to = deuteron_widen_dsp(from, tap, to, c.offset, c.at_once);
    to = skip_quads(c, (a.kernel_w - w.end) * tap, to);
  }
  skip_quads(c, (a.kernel_h - h.end) * a.kernel_w * tap, to);
}

// A few bytes: word by word, and the last ones by themselves.
int8_t* copy_row(const int8_t* from, int32_t count, int8_t* to) {
  for (; count >= 4; count -= 4, from += 4, to += 4) std::memcpy(to, from, 4);
  for (; count > 0; --count) *to++ = *from++;
  return to;
}

// One window in one piece in `to`, what lies outside x as its zero point.
void copy_taps(const Convolution& c, int32_t ih, int32_t iw, int8_t* to) {
  const Conv2dArgs& a = c.a;
  const int32_t step = a.dilation_w * a.in_c;
  const Taps h = taps_inside(ih, a.kernel_h, a.dilation_h, a.in_h), w = taps_inside(iw, a.kernel_w, a.dilation_w, a.in_w);
  const auto skip = [&](int32_t taps) {
    std::memset(to, -a.x_offset, static_cast<size_t>(taps * a.kernel_c));
    to += taps * a.kernel_c;
  };
  if (h.first > 0) skip(h.first * a.kernel_w);
  for (int32_t kh = h.first; kh < h.end; ++kh) {
    const int8_t* from = c.image + ((ih + kh * a.dilation_h) * a.in_w + iw + w.first * a.dilation_w) * a.in_c + c.channel;
    if (w.first > 0) skip(w.first);
    if (c.row > 0) to = copy_row(from, (w.end - w.first) * a.kernel_c, to);
    else
      for (int32_t kw = w.first; kw < w.end; ++kw, from += step) to = copy_row(from, a.kernel_c, to);
    if (w.end < a.kernel_w) skip(a.kernel_w - w.end);
  }
  if (h.end < a.kernel_h) skip((a.kernel_h - h.end) * a.kernel_w);
}

void widen_all(const Convolution& c, const Place (&places)[kWindowsAtOnce]) {
  const Conv2dArgs& a = c.a;
  const int8_t* x[kWindowsAtOnce];
  bool inside = true;
  for (int32_t i = 0; i < kWindowsAtOnce; ++i) {
    const Place& at = places[i];
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
    for (int32_t i = 0; i < c.at_once; ++i) widen_taps(c, places[i].ih, places[i].iw, c.windows + 2 * i);
  } else {
    int8_t copies[kWindowsAtOnce][kTemporary];
    for (int32_t i = 0; i < kWindowsAtOnce; ++i)
      if (i < c.at_once) copy_taps(c, places[i].ih, places[i].iw, copies[i]);
    widen_pieces(c, {copies[0], copies[1], copies[2], copies[3]});
  }
}

void run_image(const Convolution& c, DspDot& dot, int32_t first, int32_t filters, const int8_t* weight, const int32_t* bias, int8_t* y) {
  const Conv2dArgs& a = c.a;
  const int32_t windows = a.out_h * a.out_w;
  if (windows == 1 && c.in_one_piece && filters > 1 && c.length % 8 == 0 && reinterpret_cast<uintptr_t>(weight) % 4 == 0) {
    deuteron_widen_dsp(c.image + c.channel, c.quads, c.windows, c.offset, 1);
    return run_tiles(dot, a, first, filters, 2, weight, bias, {y, y, y, y}, deuteron_dot_1x2_dsp);
  }
  Place at{-a.pad_h, -a.pad_w};
  const int32_t behind = a.out_w * a.stride_w - a.pad_w;
  for (int32_t i = 0; i < windows; i += c.at_once) {
    Place places[kWindowsAtOnce], last{};
    int8_t *out[kWindowsAtOnce], *last_out = nullptr;
    for (int32_t k = 0; k < kWindowsAtOnce; ++k) {
      const bool is_one = k < c.at_once && i + k < windows;  // else the one before once more
      if (is_one) last = at, last_out = y + (i + k) * a.out_c;
      places[k] = last, out[k] = last_out;
      if (!is_one) continue;
      at.iw += a.stride_w;
      if (at.iw == behind) at.iw = -a.pad_w, at.ih += a.stride_h;
    }
    widen_all(c, places);
    if (c.at_once == 4) run_tiles(dot, a, first, filters, 1, weight, bias, out, deuteron_dot_4x1_dsp);
    else run_tiles(dot, a, first, filters, 2, weight, bias, out, deuteron_dot_2x2_dsp);
  }
}

// What a call does with its windows, of which `at_once` fit into `windows`.
void run(const Conv2dArgs& a, const int8_t* x, const int8_t* weight, const int32_t* bias, int16_t* windows, int32_t at_once,
         DspFinish finish, int8_t* y) {
  const int32_t length = a.kernel_h * a.kernel_w * a.kernel_c, groups = a.in_c / a.kernel_c, filters = a.out_c / groups;
  const uint32_t offset = static_cast<uint32_t>(a.x_offset) & 0xffff;
  Convolution c{a,
                x,
                length,
                length / kDspQuad,
                length % kDspQuad,
                0,
                at_once,
                windows,
                offset << 16 | offset,
                windows_in_one_piece(a),
                a.kernel_c % kDspQuad == 0,
                a.kernel_c == a.in_c && a.dilation_w == 1 ? a.kernel_w * a.kernel_c : 0,
                a.in_h - 1 - (a.kernel_h - 1) * a.dilation_h,
                a.in_w - 1 - (a.kernel_w - 1) * a.dilation_w};
  DspDot dot{windows, weight, c.quads, c.rest, length, nullptr, nullptr, nullptr, {}, 0, a.y_zero, a.y_min, a.y_max, finish};
  for (int32_t n = 0; n < a.n; ++n, c.image += a.in_h * a.in_w * a.in_c, y += a.out_h * a.out_w * a.out_c)
    for (int32_t g = 0; g < groups; ++g) {
      c.channel = g * a.kernel_c;
      run_image(c, dot, g * filters, filters, weight, bias, y);
    }
}

[[gnu::noinline]] void run_on_stack(const Conv2dArgs& a, const int8_t* x, const int8_t* weight, const int32_t* bias, int32_t at_once,
                                    DspFinish finish, int8_t* y) {
  alignas(4) int16_t windows[kStackElements];
  run(a, x, weight, bias, windows, at_once, finish, y);
}

// How the sums of a call become bytes. length * 383 * 128 must not reach 2^29, so that no sum leaves +-2^30.
DspFinish finish_of(const Conv2dArgs& a, int32_t length, const int32_t* bias) {
  constexpr int32_t kMostLength = 10000, kMostBias = 1 << 29;
  if (!a.has_shifts && !a.has_large_multipliers && a.y_min == -128 && a.y_max == 127) return kPlainSums;
  bool is_small = length <= kMostLength;
  for (int32_t i = 0; is_small && i < a.out_c; ++i) is_small = a.shift[i] <= 0 && (!bias || (bias[i] < kMostBias && bias[i] > -kMostBias));
  return is_small ? kSmallSums : kAnySums;
}

}  // namespace

void conv2d_s8_dsp(const Conv2dArgs& a, const int8_t* x, const int8_t* weight, const int32_t* bias, void* scratch, int32_t scratch_bytes,
                   int8_t* y) {
  const int32_t length = a.kernel_h * a.kernel_w * a.kernel_c, filters = a.out_c / (a.in_c / a.kernel_c);
  const int32_t window = (length + kDspQuad - 1) / kDspQuad * kDspQuad;  // elements
  const bool fits_temporary = a.kernel_c % kDspQuad == 0 || length <= kTemporary || windows_in_one_piece(a);
  if (length < kDspQuad || filters < 2 || !fits_temporary) return conv2d_s8(a, x, weight, bias, y);
  const DspFinish finish = finish_of(a, length, bias);
  const int32_t room = reinterpret_cast<uintptr_t>(scratch) % 4 == 0 ? scratch_bytes / 2 : 0;
  if (room >= 4 * window) run(a, x, weight, bias, static_cast<int16_t*>(scratch), 4, finish, y);
  else if (4 * window <= kStackElements) run_on_stack(a, x, weight, bias, 4, finish, y);
  else if (room >= 2 * window) run(a, x, weight, bias, static_cast<int16_t*>(scratch), 2, finish, y);
  else if (2 * window <= kStackElements) run_on_stack(a, x, weight, bias, 2, finish, y);
  else conv2d_s8(a, x, weight, bias, y);
}

}  // namespace deuteron

// SPDX-License-Identifier: Apache-2.0
// Convolution with the M-profile Vector Extension: two windows at a time are gathered in turns of
// 16 elements and meet all filters, four by four (kernels/dense/dot_mve.h). Where there is one
// window, and it lies in one piece, it is read as it lies.
#include <arm_mve.h>

#include <cstring>

#include "kernels/conv2d/kernel.h"
#include "kernels/conv2d/windows.h"
#include "kernels/dense/dot_mve.h"
#include "kernels/image/window.h"

namespace deuteron {
namespace {

constexpr int32_t kMostChannels = 64;  // output channels whose rescaling lies on the stack
// elements of a window that may lie on the stack, where the scratch has no room
constexpr int32_t kStackWindow = 1024;

int32_t blocks_of(int32_t length) { return (length + kMveBlock - 1) / kMveBlock; }

// `blocks` blocks, every second one from `to` on: the other ones belong to the other window.
int8_t* copy_blocks(const int8_t* from, int32_t blocks, int8_t* to) {
  for (int32_t i = 0; i < blocks; ++i, from += kMveBlock, to += 2 * kMveBlock)
    vst1q_s8(to, vld1q_s8(from));
  return to;
}
[[gnu::noinline]] int8_t* fill_blocks(int8x16_t value, int32_t blocks, int8_t* to) {
  for (int32_t i = 0; i < blocks; ++i, to += 2 * kMveBlock) vst1q_s8(to, value);
  return to;
}

[[gnu::noinline]] int8_t* copy_bytes(const int8_t* from, int32_t count, int8_t* to) {
  for (int32_t i = 0; i < count; i += kMveBlock) {
    const mve_pred16_t here = vctp8q(static_cast<uint32_t>(count - i));
    vst1q_p_s8(to + i, vld1q_z_s8(from + i, here), here);
  }
  return to + count;
}
[[gnu::noinline]] int8_t* fill_bytes(int8x16_t value, int32_t count, int8_t* to) {
  for (int32_t i = 0; i < count; i += kMveBlock)
    vst1q_p_s8(to + i, value, vctp8q(static_cast<uint32_t>(count - i)));
  return to + count;
}

// Two windows of `length` elements, as they lie, in turns of a block.
void interleave(const int8_t* a, const int8_t* b, int32_t length, int8_t* to) {
  const int32_t blocks = length / kMveBlock, whole = blocks * kMveBlock;
  if (blocks > 0) deuteron_interleave_mve(a, b, blocks, to, 1, 0);
  if (length == whole) return;
  const mve_pred16_t rest = vctp8q(static_cast<uint32_t>(length - whole));
  vst1q_s8(to + 2 * whole, vld1q_z_s8(a + whole, rest));
  vst1q_s8(to + 2 * whole + kMveBlock, vld1q_z_s8(b + whole, rest));
}

struct Convolution {
  const Conv2dArgs& a;
  const int8_t* image;                 // of the batch
  int32_t length, channel;             // elements of a window; the group's first input channel
  bool in_one_piece;                   // every window lies in x as it is wanted
  bool has_whole_rows;                 // each row of a window's taps does, if it lies inside x,
  int32_t last_h, last_w;              // which it does if it begins at 0..last_h, 0..last_w
  int32_t row_blocks, rows, row_step;  // pieces of such a window, if they are whole blocks, else 0;
                                       // how many, and bytes from one to the next
  int8_t *windows, *apart;             // both windows in turns, then each by itself
};

// The window at row ih, column iw, which may begin outside. Count and copies are of blocks or of
// bytes.
template <int8_t* (*copy)(const int8_t*, int32_t, int8_t*),
          int8_t* (*fill)(int8x16_t, int32_t, int8_t*)>
void gather(const Convolution& c, int32_t ih, int32_t iw, int32_t unit, int8_t* to) {
  const Conv2dArgs& a = c.a;
  const int8x16_t zero = vdupq_n_s8(static_cast<int8_t>(-a.x_offset));
  const int32_t tap = a.kernel_c / unit;
  const Taps h = taps_inside(ih, a.kernel_h, a.dilation_h, a.in_h),
             w = taps_inside(iw, a.kernel_w, a.dilation_w, a.in_w);
  const int32_t inside = w.end - w.first, step = a.dilation_w * a.in_c,
                row_step = a.dilation_h * a.in_w * a.in_c;
  const bool in_rows = a.dilation_w == 1 && a.kernel_c == a.in_c;
  const int8_t* row =
      c.image + ((ih + h.first * a.dilation_h) * a.in_w + iw + w.first * a.dilation_w) * a.in_c +
      c.channel;
  if (h.first > 0) to = fill(zero, h.first * a.kernel_w * tap, to);
  for (int32_t kh = h.first; kh < h.end; ++kh, row += row_step) {
    if (w.first > 0) to = fill(zero, w.first * tap, to);
    if (in_rows) to = copy(row, inside * tap, to);
    else
      for (int32_t kw = 0; kw < inside; ++kw) to = copy(row + kw * step, tap, to);
    if (w.end < a.kernel_w) to = fill(zero, (a.kernel_w - w.end) * tap, to);
  }
  if (h.end < a.kernel_h) fill(zero, (a.kernel_h - h.end) * a.kernel_w * tap, to);
}

// Places of windows in the order of the output.
struct MvePlace {
  int32_t oh, ow;
};
void advance(const Conv2dArgs& a, MvePlace& at) {
  if (++at.ow == a.out_w) at.ow = 0, ++at.oh;
}

// Rows of taps of up to 16 elements, one after the other.
void copy_short_rows(const int8_t* row, int32_t row_step, int32_t count, int32_t length,
                     int8_t* to) {
  const mve_pred16_t here = vctp8q(static_cast<uint32_t>(length));
  for (int32_t i = count; i > 0; --i, row += row_step, to += length)
    vst1q_p_s8(to, vld1q_z_s8(row, here), here);
}

// Two windows inside x, which begin at x0 and x1 and are in one piece, or in short rows.
void gather_rows(const Convolution& c, const int8_t* x0, const int8_t* x1) {
  if (c.in_one_piece) return interleave(x0, x1, c.length, c.windows);
  const int32_t row = c.a.kernel_w * c.a.kernel_c;
  int8_t* other = c.apart + blocks_of(c.length) * kMveBlock;
  copy_short_rows(x0, c.row_step, c.rows, row, c.apart);
  copy_short_rows(x1, c.row_step, c.rows, row, other);
  interleave(c.apart, other, c.length, c.windows);
}

void gather_apart(const Convolution& c, const MvePlace& first, const MvePlace& second) {
  const Conv2dArgs& a = c.a;
  const int32_t ih = first.oh * a.stride_h - a.pad_h, iw = first.ow * a.stride_w - a.pad_w;
  const int32_t jh = second.oh * a.stride_h - a.pad_h, jw = second.ow * a.stride_w - a.pad_w;
  if (c.in_one_piece) {
    interleave(c.image + (ih * a.in_w + iw) * a.in_c + c.channel,
               c.image + (jh * a.in_w + jw) * a.in_c + c.channel, c.length, c.windows);
  } else if (a.kernel_c % kMveBlock == 0) {
    gather<copy_blocks, fill_blocks>(c, ih, iw, kMveBlock, c.windows);
    gather<copy_blocks, fill_blocks>(c, jh, jw, kMveBlock, c.windows + kMveBlock);
  } else {
    int8_t* other = c.apart + blocks_of(c.length) * kMveBlock;
    gather<copy_bytes, fill_bytes>(c, ih, iw, 1, c.apart);
    gather<copy_bytes, fill_bytes>(c, jh, jw, 1, other);
    interleave(c.apart, other, c.length, c.windows);
  }
}

// Gathers all windows of the image, two at a time, and calls f(number of the first one, whether
// there are two).
template <class F>
void for_two_windows(const Convolution& c, const F& f) {
  const Conv2dArgs& a = c.a;
  const int32_t windows = a.out_h * a.out_w, step = a.stride_w * a.in_c;
  // The windows begin..end-1 of a row lie inside x, as far as columns go.
  const int32_t begin = (a.pad_w + a.stride_w - 1) / a.stride_w, last = c.last_w + a.pad_w;
  const int32_t inside = c.has_whole_rows && last >= 0 ? last / a.stride_w + 1 : 0,
                end = inside < a.out_w ? inside : a.out_w;
  MvePlace at{0, 0};
  int32_t row = -1;  // the one that the next two describe
  bool is_inside = false;
  const int8_t* first_of_row = nullptr;
  for (int32_t i = 0; i < windows; i += 2) {
    if (row != at.oh) {
      row = at.oh;
      const int32_t ih = row * a.stride_h - a.pad_h;
      is_inside = ih >= 0 && ih <= c.last_h;
      first_of_row = c.image + (ih * a.in_w - a.pad_w) * a.in_c + c.channel;
    }
    if (is_inside && at.ow >= begin && at.ow + 1 < end) {
      const int8_t* x = first_of_row + at.ow * step;
      if (c.row_blocks > 0)
        deuteron_interleave_mve(x, x + step, c.row_blocks, c.windows, c.rows, c.row_step);
      else gather_rows(c, x, x + step);
      at.ow += 2;
      if (at.ow == a.out_w) at.ow = 0, ++at.oh;
      f(i, true);
      continue;
    }
    const MvePlace first = at;
    const bool two = i + 1 < windows;
    if (two) advance(a, at);
    gather_apart(c, first, at);
    advance(a, at);
    f(i, two);
  }
}

int32_t sum_of(const int8_t* w, int32_t count) {
  int32_t sum = 0;
  for (int32_t i = count / kMveBlock; i > 0; --i, w += kMveBlock)
    sum = vaddvaq_s8(sum, vld1q_s8(w));
  const mve_pred16_t rest = vctp8q(static_cast<uint32_t>(count % kMveBlock));
  return vaddvaq_s8(sum, vld1q_z_s8(w, rest));
}

// The rescaling of `count` filters from `oc` on, `step` apart; step 0: one filter in all lanes.
void fill_rescale(const Convolution& c, const int8_t* weight, const int32_t* bias, int32_t oc,
                  int32_t step, MveTileRescale* r) {
  for (int32_t i = 0; i < kMveTile; ++i) {
    const int32_t o = oc + i * step;
    const uint32_t offset = static_cast<uint32_t>(c.a.x_offset);
    const uint32_t sum =
        offset == 0 ? 0 : static_cast<uint32_t>(sum_of(weight + o * c.length, c.length));
    r->first[i] = static_cast<int32_t>((bias ? static_cast<uint32_t>(bias[o]) : 0) + offset * sum);
    r->multiplier[i] = c.a.multiplier[o];
    r->shift[i] = c.a.shift[o];
  }
}

// All windows of the image with the filters oc..oc+count-1: tiles of four, the last one overlapping
// its neighbour where count does not divide by four.
void run_filters(const Convolution& c, const int8_t* weight, const int32_t* bias, int32_t oc,
                 int32_t count, int8_t* y) {
  MveTileRescale rescale[kMostChannels / kMveTile + 1];
  const Conv2dArgs& a = c.a;
  const int32_t tiles = count / kMveTile, last = oc + count - kMveTile;
  const bool rest = count % kMveTile != 0;
  for (int32_t t = 0; t < tiles; ++t)
    fill_rescale(c, weight, bias, oc + t * kMveTile, 1, rescale + t);
  if (rest) fill_rescale(c, weight, bias, last, 1, rescale + tiles);
  MveDot2x4 dot{c.windows, weight + oc * c.length,
                c.length,  c.length,
                rescale,   nullptr,
                nullptr,   tiles,
                a.y_zero,  a.y_min,
                a.y_max,   a.has_shifts};
  MveDot2x4 dot_rest = dot;
  dot_rest.weight = weight + last * c.length, dot_rest.rescale = rescale + tiles,
  dot_rest.tiles = 1;
  for_two_windows(c, [&](int32_t i, bool two) {
    dot.y0 = y + i * a.out_c + oc;
    dot.y1 = two ? dot.y0 + a.out_c : dot.y0;
    if (tiles > 0) deuteron_dot_2x4_mve(&dot);
    if (!rest) return;
    dot_rest.y0 = dot.y0 + count - kMveTile;
    dot_rest.y1 = dot.y1 + count - kMveTile;
    deuteron_dot_2x4_mve(&dot_rest);
  });
}

// One filter of a group that has fewer than four: the lanes of a tile all compute it.
void run_filter(const Convolution& c, const int8_t* weight, const int32_t* bias, int32_t oc,
                int8_t* y) {
  MveTileRescale rescale;
  const Conv2dArgs& a = c.a;
  int8_t out[2][kMveTile];
  fill_rescale(c, weight, bias, oc, 0, &rescale);
  const MveDot2x4 dot{c.windows, weight + oc * c.length,
                      c.length,  0,
                      &rescale,  out[0],
                      out[1],    1,
                      a.y_zero,  a.y_min,
                      a.y_max,   a.has_shifts};
  for_two_windows(c, [&](int32_t i, bool two) {
    deuteron_dot_2x4_mve(&dot);
    y[i * a.out_c + oc] = out[0][0];
    if (two) y[(i + 1) * a.out_c + oc] = out[1][0];
  });
}

// A window that lies in one piece, met as it lies: for one window an image, or for windows too long
// to be gathered.
void run_apart(const Convolution& c, const int8_t* weight, const int32_t* bias, int32_t oc,
               int32_t count, int8_t* y) {
  const Conv2dArgs& a = c.a;
  int32_t none[kMostChannels];
  if (!bias) std::memset(none, 0, sizeof none);
  MveDot1x4 dot{};
  dot.length = dot.row_step = c.length;
  dot.x_offset = a.x_offset, dot.y_zero = a.y_zero, dot.y_min = a.y_min, dot.y_max = a.y_max,
  dot.is_shifted = a.has_shifts;
  const auto run = [&](int32_t o, int32_t tiles, int8_t* out) {
    dot.weight = weight + o * c.length, dot.first = bias ? bias + o : none,
    dot.multiplier = a.multiplier + o, dot.shift = a.shift + o;
    dot.tiles = tiles, dot.y = out + o;
    deuteron_dot_1x4_mve(&dot);
  };
  for (int32_t oh = 0; oh < a.out_h; ++oh)
    for (int32_t ow = 0; ow < a.out_w; ++ow, y += a.out_c) {
      dot.x = c.image + (oh * a.stride_h * a.in_w + ow * a.stride_w) * a.in_c + c.channel;
      // Without biases the zeros in their place are so many.
      const int32_t at_once = bias ? count : kMostChannels;
      for (int32_t o = 0; o < count / kMveTile * kMveTile; o += at_once)
        run(oc + o, (count - o < at_once ? count - o : at_once) / kMveTile, y);
      if (count % kMveTile != 0) run(oc + count - kMveTile, 1, y);
    }
}

void run_image(const Convolution& c, const int8_t* weight, const int32_t* bias, int32_t first,
               int32_t filters, int8_t* y) {
  const bool alone = c.in_one_piece && (c.a.out_h * c.a.out_w == 1 || c.windows == nullptr);
  if (filters < kMveTile) {
    for (int32_t i = 0; i < filters; ++i) run_filter(c, weight, bias, first + i, y);
  } else if (alone) {
    run_apart(c, weight, bias, first, filters, y);
  } else {
    for (int32_t done = 0; done < filters; done += kMostChannels) {
      const int32_t left = filters - done, count = left < kMostChannels ? left : kMostChannels;
      // A last part of fewer than four filters begins earlier.
      const int32_t here = count < kMveTile ? kMveTile : count;
      run_filters(c, weight, bias, first + done - (here - count), here, y);
    }
  }
}

}  // namespace

void conv2d_s8_mve(const Conv2dArgs& a, const int8_t* x, const int8_t* weight, const int32_t* bias,
                   void* scratch, int32_t scratch_bytes, int8_t* y) {
  alignas(16) int8_t stack[2 * kStackWindow];
  const int32_t length = a.kernel_h * a.kernel_w * a.kernel_c,
                window = blocks_of(length) * kMveBlock;
  const bool in_one_piece = windows_in_one_piece(a);
  // Rows of taps in one piece, which are copied in blocks, or in one part of a block.
  const int32_t row = a.kernel_w * a.kernel_c;
  const bool has_whole_rows = (a.kernel_w == 1 || (a.kernel_c == a.in_c && a.dilation_w == 1)) &&
                              (row % kMveBlock == 0 || row <= kMveBlock);
  Convolution c{a,
                x,
                length,
                0,
                in_one_piece,
                in_one_piece || has_whole_rows,
                a.in_h - 1 - (a.kernel_h - 1) * a.dilation_h,
                a.in_w - 1 - (a.kernel_w - 1) * a.dilation_w,
                0,
                in_one_piece ? 1 : a.kernel_h,
                a.dilation_h * a.in_w * a.in_c,
                nullptr,
                nullptr};
  const int32_t piece = in_one_piece ? length : row;
  if (c.has_whole_rows && piece % kMveBlock == 0) c.row_blocks = piece / kMveBlock;
  const int64_t needed = int64_t{in_one_piece || a.kernel_c % kMveBlock == 0 ? 2 : 4} * window;
  if (scratch_bytes >= needed) c.windows = static_cast<int8_t*>(scratch);
  else if (needed <= 2 * kStackWindow) c.windows = stack;
  const int32_t groups = a.in_c / a.kernel_c, filters = a.out_c / groups;
  if (c.windows == nullptr && (!c.in_one_piece || filters < kMveTile))
    return conv2d_s8(a, x, weight, bias, y);
  c.apart = c.windows ? c.windows + 2 * window : nullptr;
  for (int32_t n = 0; n < a.n;
       ++n, c.image += a.in_h * a.in_w * a.in_c, y += a.out_h * a.out_w * a.out_c)
    for (int32_t g = 0; g < groups; ++g) {
      c.channel = g * a.kernel_c;
      run_image(c, weight, bias, g * filters, filters, y);
    }
}

}  // namespace deuteron

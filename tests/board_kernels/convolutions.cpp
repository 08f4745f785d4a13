// SPDX-License-Identifier: Apache-2.0
// Cases of the kernels that multiply and add.
#include <cstring>

#include "kernels/conv2d/kernel.h"
#include "kernels/conv2d/packed/kernel.h"
#include "kernels/conv2d/packed_add/kernel.h"
#include "kernels/conv2d/packed_add_shifts/kernel.h"
#include "kernels/conv2d/packed_shifts/kernel.h"
#include "kernels/conv_transpose2d/kernel.h"
#include "kernels/conv_transpose2d/packed/kernel.h"
#include "kernels/depthwise_conv2d/kernel.h"
#include "kernels/depthwise_conv2d/three_by_three.h"
#include "kernels/image/window.h"
#include "kernels/linear/kernel.h"
#include "kernels/linear/once/kernel.h"
#include "kernels/linear/packed/kernel.h"
#include "kernels/matmul/by_linear.h"
#include "ops/conv2d/depthwise_scratch.h"
#include "ops/conv2d/scratch.h"
#include "runtime/instruction_set.h"
#include "tests/board_kernels/case.h"

namespace deuteron {
namespace {

constexpr int32_t kMostChannels = 512, kMostBytes = 1 << 16, kMostProducts = 60000;
constexpr Isa kIsa = kHasMve ? Isa::mve : kHasDsp ? Isa::dsp : Isa::scalar;
int32_t multipliers[kMostChannels], shifts[kMostChannels];
int32_t first[kMostChannels];  // of packed filters: biases, with what the zero point of x adds

int32_t some_channels(Random& r) {
  constexpr int32_t kEdges[] = {1,  2,  3,  4,  5,  7,  8,  9,  12, 15, 16, 17,
                                20, 24, 31, 32, 33, 48, 63, 64, 65, 66, 130};
  return r.one_in(3) ? r.between(1, 40) : r.of(kEdges);
}

// One axis: the extent of the input from that of the output.
void some_axis(Random& r, bool pointwise, int32_t* in, int32_t* out, int32_t* kernel,
               int32_t* stride, int32_t* pad, int32_t* dilation) {
  *kernel = pointwise ? 1 : r.one_in(2) ? 3 : r.between(1, 8);
  *stride = r.one_in(2) ? 1 : r.between(1, 3);
  *dilation = r.one_in(6) ? r.between(1, 3) : 1;
  *pad = pointwise && !r.one_in(8) ? 0 : r.between(0, *kernel - 1);
  *out = r.between(1, r.one_in(6) ? 40 : 9);
  const int32_t reach = (*out - 1) * *stride + (*kernel - 1) * *dilation + 1 - *pad;
  *in = reach - r.between(0, *pad) +
        (r.one_in(4) ? r.between(0, *stride) : 0);  // uneven padding, or columns left over
  if (*in < 1) *in = 1;
}

// A third of the cases has no room, a third what the stock kernel has.
Guarded some_scratch(Random& r, int64_t stock) {
  const int32_t way = r.between(0, 3);
  const uint32_t bytes = way == 0   ? 0
                         : way == 1 ? static_cast<uint32_t>(r.between(0, 6000))
                                    : static_cast<uint32_t>(stock);
  return guarded(3, bytes, r.between(0, 3));
}

template <class Args>
void some_numbers(Random& r, Args& a) {
  a.x_offset = r.one_in(12) ? r.between(-255, 255) : -a_zero(r);
  a.y_zero = a_zero(r);
  bounds(r, &a.y_min, &a.y_max);
  fill_scales(r, multipliers, shifts, a.out_c);
  a.multiplier = multipliers, a.shift = shifts;
}

template <class Args>
void describe(const Args& a, bool bias, uint32_t scratch, Line& line) {
  const int32_t values[] = {a.n,        a.in_h,   a.in_w,     a.in_c,       a.out_h,
                            a.out_w,    a.out_c,  a.kernel_h, a.kernel_w,   a.stride_h,
                            a.stride_w, a.pad_h,  a.pad_w,    a.dilation_h, a.dilation_w,
                            a.x_offset, a.y_zero, a.y_min,    a.y_max};
  line.text(" n,ih,iw,ic,oh,ow,oc,kh,kw,sh,sw,ph,pw,dh,dw,xo,yz,lo,hi");
  for (const int32_t v : values) line.text(" ").signed_number(v);
  line.text(bias ? " bias" : " none").text(" scratch ").number(scratch);
}

// Scales as a quantized .tflite has them: no multiplier below one half, every channel shifted or
// most; and half of the cases with what a ReLU makes of the zero point of y, where halves may go
// either way. Now and then one bound is not int8's, as ReLU6 may have it.
void scales_of_a_file(Random& r, DepthwiseConv2dArgs& a) {
  if (r.one_in(2)) a.y_zero = -128;
  a.y_min = r.one_in(10) ? r.between(-127, 0) : -128,
  a.y_max = r.one_in(10) ? r.between(0, 126) : 127;
  const bool every = r.one_in(2);
  for (int32_t i = 0; i < a.out_c; ++i) {
    multipliers[i] = static_cast<int32_t>(r.next() >> 1) | 1 << 30;
    shifts[i] = every || !r.one_in(3) ? -r.between(1, 14) : 0;
  }
}

// Runs both kernels on random operands.
template <class Args, class Portable, class Own>
Outcome run_convolution(Random& r, const Args& a, int32_t weights, int64_t stock_scratch,
                        Line& line, Portable portable, Own own) {
  const int32_t xs = a.n * a.in_h * a.in_w * a.in_c, ys = a.n * a.out_h * a.out_w * a.out_c;
  static int32_t sums[kMostChannels];
  const bool has_bias = !r.one_in(6);
  fill_sums(r, sums, a.out_c);
  int32_t* bias = has_bias ? sums : nullptr;
  const bool swap = r.one_in(2);
  int8_t* x = (swap ? at_end_of_ram : at_end_of_pool)(static_cast<uint32_t>(xs));
  int8_t* weight = (swap ? at_end_of_pool : at_end_of_ram)(static_cast<uint32_t>(weights));
  fill_bytes(r, x, xs);
  fill_bytes(r, weight, weights);
  const Guarded scratch = some_scratch(r, stock_scratch),
                expected = guarded(0, static_cast<uint32_t>(ys)),
                found = guarded(1, static_cast<uint32_t>(ys), r.between(0, 3));
  describe(a, has_bias, scratch.bytes, line);
  portable(a, x, weight, bias, expected.data);
  own(a, x, weight, bias, scratch.data, static_cast<int32_t>(scratch.bytes), found.data);
  return compared(expected, found, static_cast<uint32_t>(ys), &scratch, line);
}

template <void (*kernel)(const DepthwiseConv2dArgs&, const int8_t*, const int8_t*, const int32_t*,
                         int8_t*)>
void without_scratch(const DepthwiseConv2dArgs& a, const int8_t* x, const int8_t* weight,
                     const int32_t* bias, void*, int32_t, int8_t* y) {
  kernel(a, x, weight, bias, y);
}

bool has_windows(const Conv2dArgs& a) {
  return !why_not_window(a.in_h, a.out_h, a.kernel_h, a.stride_h, a.pad_h, a.dilation_h) &&
         !why_not_window(a.in_w, a.out_w, a.kernel_w, a.stride_w, a.pad_w, a.dilation_w);
}

}  // namespace

Outcome check_conv2d(uint32_t seed) {
  Random r(seed);
  Conv2dArgs a{};
  int64_t products = 0;
  do {
    const bool pointwise = r.one_in(3), one_row = r.one_in(8);
    some_axis(r, pointwise || one_row, &a.in_h, &a.out_h, &a.kernel_h, &a.stride_h, &a.pad_h,
              &a.dilation_h);
    some_axis(r, pointwise, &a.in_w, &a.out_w, &a.kernel_w, &a.stride_w, &a.pad_w, &a.dilation_w);
    const int32_t groups = r.one_in(6) ? r.between(2, 5) : 1;
    a.n = r.one_in(5) ? 2 : 1;
    a.kernel_c = r.one_in(30) ? r.between(900, 1300) : some_channels(r);
    a.in_c = groups * a.kernel_c;
    a.out_c = groups * (groups > 1 ? r.between(1, 9) : some_channels(r));
    const int64_t window = int64_t{a.kernel_h} * a.kernel_w * a.kernel_c;
    products = window * a.n * a.out_h * a.out_w * a.out_c;
    if (window * a.out_c > kMostBytes || int64_t{a.n} * a.in_h * a.in_w * a.in_c > kMostBytes)
      products = kMostProducts + 1;
  } while (products > kMostProducts || !has_windows(a));
  some_numbers(r, a);
  note_scales(a);
  Line line("@differs conv2d ");
  line.number(seed).text(" kc ").signed_number(a.kernel_c);
  const int32_t weights = a.out_c * a.kernel_h * a.kernel_w * a.kernel_c;
  const int64_t stock = conv2d_scratch_bytes(a, kIsa);
  if constexpr (kHasMve) {
    if (why_not_conv2d_mve(a)) return Outcome::not_served;
    return run_convolution(r, a, weights, stock, line, conv2d_s8, conv2d_s8_mve);
  }
  if constexpr (kHasDsp) {
    if (why_not_conv2d_dsp(a)) return Outcome::not_served;
    return run_convolution(r, a, weights, stock, line, conv2d_s8, conv2d_s8_dsp);
  }
  if constexpr (kHasScalar)
    return run_convolution(r, a, weights, stock, line, conv2d_s8, conv2d_s8_scalar);
  return Outcome::not_served;
}

Outcome check_depthwise_conv2d(uint32_t seed) {
  Random r(seed);
  DepthwiseConv2dArgs a{};
  int64_t products = 0;
  bool valid = false;
  do {
    some_axis(r, false, &a.in_h, &a.out_h, &a.kernel_h, &a.stride_h, &a.pad_h, &a.dilation_h);
    some_axis(r, false, &a.in_w, &a.out_w, &a.kernel_w, &a.stride_w, &a.pad_w, &a.dilation_w);
    if (r.one_in(2))
      a.kernel_h = a.kernel_w = 3, a.dilation_h = a.dilation_w = 1, a.stride_h = a.stride_w;
    else if (r.one_in(2)) {
      a.kernel_h = a.dilation_w = 1, a.stride_w = r.between(1, 2), a.kernel_w = r.between(1, 18);
      if (r.one_in(4)) a.in_w = a.out_w = r.between(1, 150);
    } else if (r.one_in(2)) {
      a.dilation_h = a.dilation_w = 1, a.stride_w = r.between(1, 2), a.kernel_w = r.between(4, 5);
    }
    a.n = r.one_in(5) ? 2 : 1;
    a.depth_multiplier = r.one_in(6) ? r.between(1, 5) : 1;
    a.in_c = some_channels(r);
    if (r.one_in(6)) a.in_c = 1, a.depth_multiplier = some_channels(r);
    a.out_c = a.in_c * a.depth_multiplier;
    products = int64_t{a.kernel_h} * a.kernel_w * a.n * a.out_h * a.out_w * a.out_c;
    valid = !why_not_window(a.in_h, a.out_h, a.kernel_h, a.stride_h, a.pad_h, a.dilation_h) &&
            !why_not_window(a.in_w, a.out_w, a.kernel_w, a.stride_w, a.pad_w, a.dilation_w);
  } while (products > kMostProducts || !valid || a.out_c > kMostChannels ||
           int64_t{a.n} * a.in_h * a.in_w * a.in_c > kMostBytes);
  some_numbers(r, a);
  if (r.one_in(3)) scales_of_a_file(r, a);
  Line line("@differs depthwise_conv2d ");
  line.number(seed).text(" dm ").signed_number(a.depth_multiplier);
  const int32_t weights = a.kernel_h * a.kernel_w * a.out_c;
  const int64_t stock = depthwise_conv2d_scratch_bytes(a, kIsa);
  if constexpr (kHasMve) {
    if (why_not_depthwise_conv2d_mve(a)) return Outcome::not_served;
    const auto form =
        has_patches(a) ? depthwise_conv2d_s8_mve_3x3 : depthwise_conv2d_s8_mve_channels;
    const bool by_form = (has_patches(a) || a.in_c > 1) && r.one_in(2);
    return run_convolution(r, a, weights, stock, line, depthwise_conv2d_s8,
                           by_form ? form : depthwise_conv2d_s8_mve);
  }
  if constexpr (kHasDsp) {
    if (why_not_depthwise_conv2d_dsp(a)) return Outcome::not_served;
    return run_convolution(r, a, weights, stock, line, depthwise_conv2d_s8,
                           without_scratch<depthwise_conv2d_s8_dsp>);
  }
  if constexpr (kHasScalar)
    return run_convolution(r, a, weights, stock, line, depthwise_conv2d_s8,
                           without_scratch<depthwise_conv2d_s8_scalar>);
  return Outcome::not_served;
}

Outcome check_linear(uint32_t seed) {
  Random r(seed);
  LinearArgs a{};
  a.rows = r.one_in(2) ? 1 : r.between(1, 5);
  a.in = r.one_in(10) ? r.between(1000, 2500) : r.between(1, 200);
  a.out = some_channels(r);
  a.x_offset = r.one_in(3) ? 0 : r.between(-255, 255);
  a.weight_offset = r.one_in(3) ? r.between(-255, 255) : 0;
  a.y_zero = a_zero(r);
  bounds(r, &a.y_min, &a.y_max);
  fill_scales(r, &a.multiplier, &a.shift, 1);
  static int32_t sums[kMostChannels];
  fill_sums(r, sums, a.out);
  const int32_t* first = r.one_in(6) ? nullptr : sums;
  const auto [x, weight] = some_layer(r, a.rows * a.in, a.out * a.in);
  const uint32_t ys = static_cast<uint32_t>(a.rows * a.out);
  const Guarded expected = guarded(0, ys), found = guarded(1, ys, r.between(0, 3));
  Line line("@differs linear ");
  const int32_t values[] = {a.rows,   a.in,         a.out,   a.x_offset, a.weight_offset,
                            a.y_zero, a.multiplier, a.shift, a.y_min,    a.y_max};
  line.number(seed).text(first ? " first" : " none").text(" rows,in,out,xo,wo,yz,m,s,lo,hi");
  for (const int32_t v : values) line.text(" ").signed_number(v);
  if constexpr (kHasMve) {
    if (why_not_linear_mve(a)) return Outcome::not_served;
    linear_s8(a, x, weight, first, expected.data);
    linear_s8_mve(a, x, weight, first, found.data);
    return compared(expected, found, ys, nullptr, line);
  }
  if constexpr (kHasDsp) {
    if (why_not_linear_dsp(a)) return Outcome::not_served;
    linear_s8(a, x, weight, first, expected.data);
    linear_s8_dsp(a, x, weight, first, found.data);
    return compared(expected, found, ys, nullptr, line);
  }
  if constexpr (kHasScalar) {
    linear_s8(a, x, weight, first, expected.data);
    linear_s8_scalar(a, x, weight, first, found.data);
    return compared(expected, found, ys, nullptr, line);
  }
  return Outcome::not_served;
}

// Calls that the kernel for three outputs at a time serves: why_not_linear_rows_dsp() is null, but
// for what it leaves to a faster one.
Outcome check_linear_rows(uint32_t seed) {
  if constexpr (!kHasDsp) return Outcome::not_served;
  Random r(seed);
  LinearArgs a{};
  a.rows = r.one_in(2) ? 1 : r.between(1, 3);
  a.in = 8 * (r.one_in(20)  ? r.between(200, kDspRow / 8)
              : r.one_in(2) ? r.between(1, 9)
                            : r.between(1, 40));
  a.out = a.in > 1000 ? r.between(3, 9) : r.one_in(2) ? r.between(3, 9) : some_channels(r) + 2;
  a.x_offset = r.one_in(4) ? 0 : -a_zero(r);
  a.y_zero = a_zero(r);
  a.multiplier = static_cast<int32_t>(r.next() >> 2) >> (r.one_in(2) ? 0 : r.between(0, 20));
  if (r.one_in(2))
    a.multiplier = static_cast<int32_t>(r.next() >> 1) | 1 << 30,
    a.shift = -(r.one_in(2) ? r.between(1, 9) : r.between(1, 24));
  if (a.shift != 0 && r.one_in(8)) a.multiplier = r.one_in(2) ? 1 << 30 : INT32_MAX;
  if (r.one_in(12)) a.shift = a.shift != 0 ? 0 : -r.between(1, 24);  // not served
  a.y_min = -128, a.y_max = 127;
  static int32_t sums[kMostChannels + 2];
  fill_sums(r, sums, a.out);
  const auto [x, weight] = some_layer(r, a.rows * a.in, a.out * a.in);
  end_rows_with(r, -a.x_offset, x, a.rows, a.in);
  const uint32_t ys = static_cast<uint32_t>(a.rows * a.out);
  const Guarded expected = guarded(0, ys), found = guarded(1, ys, r.between(0, 3));
  Line line("@differs linear_rows ");
  line.number(seed).text(" rows,in,out,xo,yz,m,s");
  const int32_t values[] = {a.rows, a.in, a.out, a.x_offset, a.y_zero, a.multiplier, a.shift};
  for (const int32_t v : values) line.text(" ").signed_number(v);
  if constexpr (kHasDsp) {
    // where another kernel is faster
    a.rows = why_not_linear_rows_dsp(a, weight, sums) ? 1 : a.rows;
    if (why_not_linear_rows_dsp(a, weight, sums)) return Outcome::not_served;
    linear_s8(a, x, weight, sums, expected.data);
    linear_s8_rows_dsp(a, x, weight, sums, found.data);
  }
  return compared(expected, found, ys, nullptr, line);
}

namespace {

// -128 stays the first weight of a filter alone: two filters go into halfwords then.
void leave_few_least(int8_t* weight, int32_t count, int32_t length) {
  for (int32_t i = 0; i < count; ++i)
    if (i % length != 0 && weight[i] == -128) weight[i] = -127;
}

// The packed form of a convolution without groups, and whether its kernel gives the same bits.
// `once`: it rounds once. `behind`: that of packed_linear.
template <Packing p>
bool pack_filters(const PackedConv2dArgs& a, const Conv2dArgs& plain, const int8_t* weight,
                  const int32_t* bias, int8_t* packed, bool once = false, bool behind = false) {
  static int32_t low_bytes[kMostChannels];
  for (int32_t o = 0; once && o < a.out_c; ++o) low_bytes[o] = once_shift(plain.shift[o]);
  const int32_t length = a.length();
  for (int32_t o = 0; o < a.out_c; ++o) {
    int32_t sum = 0, magnitudes = 0;
    for (int32_t e = 0; e < length; ++e)
      sum += weight[o * length + e], magnitudes += weight[o * length + e] < 0
                                                       ? -weight[o * length + e]
                                                       : weight[o * length + e];
    first[o] = (bias ? bias[o] : 0) + plain.x_offset * sum;
    const int64_t reach = int64_t{magnitudes} * (behind ? 255 : 128);
    if (reach + (first[o] < 0 ? -int64_t{first[o]} : first[o]) >= 1 << 30 ||
        (p == Packing::dsp_4x4 && reach >= 1 << 23))
      return false;
  }
  const auto element = [&](int32_t f, int32_t e) {
    const int32_t tap = e / a.in_c, c = e % a.in_c;
    const int32_t kh = p == Packing::mve_4x16 ? tap % a.kernel_h : tap / a.kernel_w;
    const int32_t kw = p == Packing::mve_4x16 ? tap / a.kernel_h : tap % a.kernel_w;
    const int8_t w = weight[f * length + (kh * a.kernel_w + kw) * a.in_c + c];
    return behind ? behind_relu<p>(w) : w;
  };
  static const int32_t kNone[kMostChannels] = {};
  return pack_weights<p>(a.out_c, length,
                         !behind ? first
                         : bias  ? bias
                                 : kNone,
                         plain.multiplier,
                         once           ? low_bytes
                         : a.has_shifts ? plain.shift
                                        : nullptr,
                         element, packed);
}

// 3x3 over whole blocks of 16 channels, one column from window to window, which MVE meets four at a
// time: rows that have a multiple of four and others, images of 16 channels that are read where
// they lie and others.
void make_threes(Random& r, Conv2dArgs& a) {
  a.kernel_h = a.kernel_w = 3, a.stride_w = a.dilation_w = 1;
  a.out_h = r.between(1, 4), a.out_w = r.one_in(2) ? r.between(3, 30) : 4 * r.between(1, 8);
  a.pad_h = r.between(0, 2), a.pad_w = r.between(0, 3);
  a.in_h = (a.out_h - 1) * a.stride_h + 2 * a.dilation_h + 1 - a.pad_h - r.between(0, a.pad_h);
  a.in_w = a.out_w + 2 - a.pad_w - r.between(0, a.pad_w);
  a.in_h = a.in_h < 1 ? 1 : a.in_h, a.in_w = a.in_w < 1 ? 1 : a.in_w;
  a.in_c = a.kernel_c = r.one_in(2) ? 16 : 16 * r.between(1, 4);
  a.out_c = r.between(4, 13);
}

// Few windows, or one, of long filters: fully connected layers; else images of all kinds.
Conv2dArgs some_packed(Random& r) {
  Conv2dArgs a{};
  int64_t products = 0;
  do {
    const bool rows = r.one_in(3), pointwise = rows || r.one_in(3), one_row = r.one_in(6);
    some_axis(r, pointwise || one_row, &a.in_h, &a.out_h, &a.kernel_h, &a.stride_h, &a.pad_h,
              &a.dilation_h);
    some_axis(r, pointwise, &a.in_w, &a.out_w, &a.kernel_w, &a.stride_w, &a.pad_w, &a.dilation_w);
    if (r.one_in(2)) a.dilation_w = 1;
    const bool apart = !rows && r.one_in(8);
    if (apart) {  // one row, whose taps are apart, or such a column
      const bool row = r.one_in(2);
      *(row ? &a.in_h : &a.in_w) = *(row ? &a.out_h : &a.out_w) = 1;
      *(row ? &a.kernel_h : &a.kernel_w) = *(row ? &a.stride_h : &a.stride_w) = 1;
      *(row ? &a.dilation_h : &a.dilation_w) = 1, *(row ? &a.pad_h : &a.pad_w) = 0;
      if (row) a.kernel_w = r.between(2, 6), a.stride_w = 1, a.out_w = r.between(1, 40);
      (row ? a.dilation_w : a.dilation_h) = r.between(2, 9);
      (row ? a.in_w : a.in_h) += r.between(0, 40);
    }
    if (rows)
      a.in_w = a.out_w = a.stride_h = a.stride_w = 1, a.pad_h = a.pad_w = 0,
      a.in_h = a.out_h = r.one_in(2) ? 1 : r.between(1, 9);
    a.n = !rows && !apart && r.one_in(5) ? 2 : 1;
    a.in_c = a.kernel_c = rows && r.one_in(4) ? r.between(200, 2200)
                          : r.one_in(4)       ? 3
                                              : some_channels(r);
    a.out_c = some_channels(r);
    if (!rows && !apart && r.one_in(5)) make_threes(r, a);
    const int64_t window = int64_t{a.kernel_h} * a.kernel_w * a.kernel_c;
    products = window * a.n * a.out_h * a.out_w * a.out_c;
    if (window * a.out_c > kMostBytes || int64_t{a.n} * a.in_h * a.in_w * a.in_c > kMostBytes)
      products = kMostProducts + 1;
  } while (products > kMostProducts || !has_windows(a));
  return a;
}

// The kernels of a packing, as run_packed() calls them. The addition is in place.
struct PackedKernel {
  void (*run)(const PackedConv2dArgs&, const int8_t*, const int8_t*, void*, int32_t, int8_t*);
  int64_t (*least)(const PackedConv2dArgs&, Packing);
  int64_t (*most)(const PackedConv2dArgs&, Packing);
  void (*run_with_addition)(const PackedConv2dArgs&, const LinearAddArgs&, const int8_t*,
                            const int8_t*, const int8_t*, int32_t, void*, int32_t,
                            int8_t*) = nullptr;
  bool all_shifts = false;   // that of packed_conv2d_shifts
  bool behind_relu = false;  // packed_linear
  const char* why_not(const PackedConv2dArgs& a, Packing p) const {
    return behind_relu  ? why_not_packed_linear(a, p)
           : all_shifts ? why_not_packed_windows(a, p)
                        : why_not_packed_conv2d(a, p);
  }
};

// Shifts of a call of packed_conv2d, of which some may be 0, or of packed_conv2d_shifts: some bits
// apart, as the scales of one call are.
template <Packing p>
void fill_shifts(Random& r, int32_t count, bool all, bool once) {
  const int32_t least = all ? r.between(least_windows_shift(p), -1) : -31;
  for (int32_t i = 0; i < count; ++i) {
    if (all) shifts[i] = r.between(least, least + 5 < -1 ? least + 5 : -1);
    else shifts[i] = !once && r.one_in(4) ? 0 : -r.between(1, 31);
    if (all || (p == Packing::scalar_1x4 && r.one_in(2))) multipliers[i] |= 1 << 30;
  }
}

template <Packing p>
Outcome run_packed(Random& r, Conv2dArgs& a, Line& line, const PackedKernel& own) {
  a.x_offset = own.behind_relu ? 128 : -a_zero(r), a.y_zero = a_zero(r), a.y_min = -128,
  a.y_max = 127;
  const bool small = r.one_in(2);
  for (int32_t i = 0; i < a.out_c; ++i)
    multipliers[i] =
        static_cast<int32_t>(r.next() >> (p == Packing::mve_4x16 ? 1 : 2)) >> (small ? 10 : 0),
    shifts[i] = 0;
  a.multiplier = multipliers, a.shift = shifts;
  PackedConv2dArgs k{a.n,         a.in_h,   a.in_w,     a.in_c,       a.out_h,
                     a.out_w,     a.out_c,  a.kernel_h, a.kernel_w,   a.stride_h,
                     a.stride_w,  a.pad_h,  a.pad_w,    a.dilation_h, a.dilation_w,
                     -a.x_offset, a.y_zero, false,      a.out_c,      a.out_w * a.out_c};
  k.has_shifts =
      own.all_shifts || (!own.run_with_addition && packed_conv2d_takes_shifts(k, p) && r.one_in(2));
  const bool once = p != Packing::scalar_1x4 && k.has_shifts && !own.all_shifts && r.one_in(2);
  if (own.all_shifts && r.one_in(2)) a.y_zero = k.y_zero = -128;
  if (k.has_shifts) fill_shifts<p>(r, a.out_c, own.all_shifts, once);
  if (own.why_not(k, p)) return Outcome::not_served;
  if (own.run_with_addition &&
      (own.all_shifts ? why_not_added_rows(k) : why_not_packed_conv2d_add(k)))
    return Outcome::not_served;
  static int32_t sums[kMostChannels];
  fill_sums(r, sums, a.out_c);
  for (int32_t i = 0; i < a.out_c; ++i) sums[i] >>= 3;
  const int32_t* bias = r.one_in(6) ? nullptr : sums;
  const uint32_t xs = static_cast<uint32_t>(a.n * a.in_h * a.in_w * a.in_c),
                 ys = static_cast<uint32_t>(a.n * a.out_h * a.out_w * a.out_c);
  const uint32_t bytes = static_cast<uint32_t>(
      packed_bytes(p, a.out_c, k.length()) + (k.has_shifts ? packed_shifts_bytes(p, a.out_c) : 0));
  const bool swap = r.one_in(2);
  int8_t *x = (swap ? at_end_of_ram : at_end_of_pool)(xs),
         *packed = (swap ? at_end_of_pool : at_end_of_ram)(bytes);
  const int32_t weights = a.out_c * k.length();
  int8_t* weight = guarded(2, static_cast<uint32_t>(weights)).data;
  fill_bytes(r, x, static_cast<int32_t>(xs));
  fill_bytes(r, weight, weights);
  if (p == Packing::dsp_4x4) leave_few_least(weight, weights, k.length());
  if (own.behind_relu) end_rows_with(r, -128, x, a.n * a.in_h * a.in_w, a.in_c);
  if (!pack_filters<p>(k, a, weight, bias, packed, once, own.behind_relu))
    return Outcome::not_served;
  const auto least = static_cast<int32_t>(own.least(k, p)),
             most = static_cast<int32_t>(own.most(k, p));
  const int32_t room = r.one_in(2) ? most : r.one_in(3) ? least : r.between(least, most);
  const Guarded scratch =
      guarded(3, static_cast<uint32_t>(room), p == Packing::mve_4x16 ? r.between(0, 3) : 0);
  const Guarded expected = guarded(0, ys), found = guarded(1, ys, r.between(0, 3));
  describe(a, bias, scratch.bytes, line);
  if (once)
    linear_once_s8({a.n * a.out_h * a.out_w, k.length(), a.out_c, a.y_zero, -128, 127}, x, weight,
                   first, multipliers, shifts, expected.data);
  else conv2d_s8(a, x, weight, bias, expected.data);
  if (own.run_with_addition) {
    const LinearAddArgs sum{static_cast<int32_t>(ys), static_cast<int32_t>(ys),
                            r.between(-1500000, 1500000), r.between(-1500000, 1500000),
                            r.between(-90000000, 90000000)};
    fill_bytes(r, found.data, static_cast<int32_t>(ys));
    (own.all_shifts ? linear_add_q21_s8 : linear_add_s8)(sum, expected.data, found.data,
                                                         expected.data);
    own.run_with_addition(k, sum, x, packed, found.data,
                          room < own.most(k, p) ? 1 : packed_conv2d_add_rows(k), scratch.data, room,
                          found.data);
  } else {
    own.run(k, x, packed, scratch.data, room, found.data);
  }
  return compared(expected, found, ys, &scratch, line);
}

// The phases of a transposed convolution, packed by the filters of each.
template <Packing p>
Outcome run_packed_phases_of(Random& r, Line& line,
                             void (*own)(const PackedConvTranspose2dArgs&, const int8_t*,
                                         const int8_t*, void*, int32_t, int8_t*)) {
  ConvTranspose2dArgs a{};
  int64_t products = 0;
  do {
    a.n = r.one_in(5) ? 2 : 1, a.in_h = r.between(1, 7), a.in_w = r.between(1, 9),
    a.in_c = r.one_in(4) ? 3 : some_channels(r);
    a.out_c = some_channels(r), a.stride_h = r.between(1, 3),
    a.stride_w = r.one_in(2) ? a.stride_h : r.between(1, 4);
    a.kernel_h = r.between(1, 5), a.kernel_w = r.one_in(2) ? a.kernel_h : r.between(1, 6);
    a.pad_h = r.between(0, a.kernel_h - 1), a.pad_w = r.between(0, a.kernel_w - 1);
    a.out_h = (a.in_h - 1) * a.stride_h - 2 * a.pad_h + a.kernel_h + r.between(0, a.stride_h - 1);
    a.out_w = (a.in_w - 1) * a.stride_w - 2 * a.pad_w + a.kernel_w + r.between(0, a.stride_w - 1);
    products = int64_t{a.kernel_h} * a.kernel_w * a.in_c * a.n * a.in_h * a.in_w * a.out_c;
  } while (a.out_h < 1 || a.out_w < 1 || products > kMostProducts ||
           a.kernel_h * a.kernel_w * a.in_c * a.out_c > kMostBytes);
  a.x_offset = -a_zero(r), a.y_zero = a_zero(r), a.y_min = -128, a.y_max = 127,
  a.multiplier = multipliers, a.shift = shifts;
  for (int32_t i = 0; i < a.out_c; ++i)
    multipliers[i] = static_cast<int32_t>(r.next() >> (p == Packing::dsp_4x4 ? 2 : 1)) >> 9,
    shifts[i] = 0;
  const PackedConvTranspose2dArgs k{a.n,        a.in_h,  a.in_w,     a.in_c,      a.out_h,
                                    a.out_w,    a.out_c, a.kernel_h, a.kernel_w,  a.stride_h,
                                    a.stride_w, a.pad_h, a.pad_w,    -a.x_offset, a.y_zero};
  if (why_not_packed_conv_transpose2d(k, p)) return Outcome::not_served;
  static int32_t bias[kMostChannels];
  fill_sums(r, bias, a.out_c);
  for (int32_t i = 0; i < a.out_c; ++i) bias[i] >>= 4;
  const int32_t length = a.kernel_h * a.kernel_w * a.in_c, xs = a.n * a.in_h * a.in_w * a.in_c;
  int8_t* const weight = guarded(2, static_cast<uint32_t>(a.out_c * length)).data;
  fill_bytes(r, weight, a.out_c * length);
  if (p == Packing::dsp_4x4) leave_few_least(weight, a.out_c * length, length);
  const auto bytes = static_cast<uint32_t>(packed_conv_transpose2d_bytes(k, p));
  int8_t *const packed = at_end_of_ram(bytes), *const x = at_end_of_pool(static_cast<uint32_t>(xs));
  fill_bytes(r, x, xs);
  bool fits = true;
  for (int32_t ph = 0, at = 0; ph < a.stride_h && ph < a.out_h; ++ph)
    for (int32_t pw = 0; pw < a.stride_w && pw < a.out_w; ++pw) {
      const AxisPhase h = phase_of(ph, a.kernel_h, a.stride_h, a.pad_h, a.out_h),
                      w = phase_of(pw, a.kernel_w, a.stride_w, a.pad_w, a.out_w);
      const PackedConv2dArgs c = packed_phase(k, h, w);
      static int8_t part[kMostBytes];
      int32_t count = 0;
      for (int32_t o = 0; o < a.out_c; ++o)
        for (int32_t i = h.taps - 1; i >= 0; --i)
          for (int32_t j = w.taps - 1; j >= 0; --j)
            for (int32_t e = 0; e < a.in_c; ++e)
              part[count++] = weight[o * length +
                                     ((h.first_tap + i * a.stride_h) * a.kernel_w + w.first_tap +
                                      j * a.stride_w) *
                                         a.in_c +
                                     e];
      Conv2dArgs plain{};
      plain.x_offset = a.x_offset, plain.multiplier = multipliers, plain.shift = shifts;
      fits &= pack_filters<p>(c, plain, part, bias, packed + at);
      at += static_cast<int32_t>(packed_bytes(p, a.out_c, c.length()));
    }
  if (!fits) return Outcome::not_served;
  const uint32_t ys = static_cast<uint32_t>(a.n * a.out_h * a.out_w * a.out_c);
  const auto least = static_cast<int32_t>(packed_conv_transpose2d_least_scratch_bytes(k, p)),
             most = static_cast<int32_t>(packed_conv_transpose2d_scratch_bytes(k, p));
  const int32_t room = r.one_in(2) ? most : r.between(least, most);
  const Guarded scratch = guarded(3, static_cast<uint32_t>(room)), expected = guarded(0, ys),
                found = guarded(1, ys, r.between(0, 3));
  const int32_t values[] = {a.n,     a.in_h,     a.in_w,     a.in_c,     a.out_h,    a.out_w,
                            a.out_c, a.kernel_h, a.kernel_w, a.stride_h, a.stride_w, a.pad_h,
                            a.pad_w, a.x_offset, a.y_zero,   room};
  line.text(" n,ih,iw,ic,oh,ow,oc,kh,kw,sh,sw,ph,pw,xo,yz,scratch");
  for (const int32_t v : values) line.text(" ").signed_number(v);
  conv_transpose2d_s8(a, x, weight, bias, expected.data);
  own(k, x, packed, scratch.data, room, found.data);
  return compared(expected, found, ys, &scratch, line);
}

}  // namespace

Outcome check_packed_conv_transpose2d(uint32_t seed) {
  Random r(seed);
  Line line("@differs packed_conv_transpose2d ");
  line.number(seed);
  if constexpr (kHasMve)
    return run_packed_phases_of<Packing::mve_4x16>(r, line, packed_conv_transpose2d_s8_mve);
  if constexpr (kHasDsp)
    return run_packed_phases_of<Packing::dsp_4x4>(r, line, packed_conv_transpose2d_s8_dsp);
  return Outcome::not_served;
}

namespace {

#if defined(__ARM_FEATURE_MVE)
// The form of the kernel that a C program calls.
void run_mve_form(const PackedConv2dArgs& a, const int8_t* x, const int8_t* packed, void* scratch,
                  int32_t scratch_bytes, int8_t* y) {
  switch (packed_conv2d_mve_form(a, scratch_bytes)) {
    case PackedMve::any:
      return packed_conv2d_s8_mve(a, x, packed, scratch, scratch_bytes, y);
    case PackedMve::alone:
      return packed_conv2d_s8_mve_alone(a, x, packed, y);
    case PackedMve::in_place:
      return packed_conv2d_s8_mve_in_place(a, x, packed, y);
    case PackedMve::columns:
      return packed_conv2d_s8_mve_columns(a, x, packed, scratch, scratch_bytes, y);
    case PackedMve::apart:
      return packed_conv2d_s8_mve_apart(a, x, packed, scratch, scratch_bytes, y);
    case PackedMve::rows:
      return packed_conv2d_s8_mve_rows(a, x, packed, scratch, scratch_bytes, y);
  }
}
void run_shifts_mve_form(const PackedConv2dArgs& a, const int8_t* x, const int8_t* packed,
                         void* scratch, int32_t scratch_bytes, int8_t* y) {
  const PackedMve form = packed_conv2d_mve_form(a, scratch_bytes);
  if (form == PackedMve::alone || form == PackedMve::in_place)
    return packed_conv2d_shifts_s8_mve_in_place(a, x, packed, y);
  (form == PackedMve::any       ? packed_conv2d_shifts_s8_mve
   : form == PackedMve::columns ? packed_conv2d_shifts_s8_mve_columns
   : form == PackedMve::apart
       ? packed_conv2d_shifts_s8_mve_apart
       : packed_conv2d_shifts_s8_mve_rows)(a, x, packed, scratch, scratch_bytes, y);
}
void run_added_mve_form(const PackedConv2dArgs& a, const LinearAddArgs& sum, const int8_t* x,
                        const int8_t* packed, const int8_t* other, int32_t rows, void* scratch,
                        int32_t scratch_bytes, int8_t* y) {
  const PackedMve form = packed_conv2d_mve_form(
      a, scratch_bytes - static_cast<int32_t>(packed_conv2d_add_rows_bytes(a, rows)));
  const auto run = form == PackedMve::in_place  ? packed_conv2d_add_s8_mve_in_place
                   : form == PackedMve::columns ? packed_conv2d_add_s8_mve_columns
                   : form == PackedMve::rows    ? packed_conv2d_add_s8_mve_rows
                                                : packed_conv2d_add_s8_mve;
  run(a, sum, x, packed, other, rows, scratch, scratch_bytes, y);
}
void run_added_shifts_mve_form(const PackedConv2dArgs& a, const LinearAddArgs& sum, const int8_t* x,
                               const int8_t* packed, const int8_t* other, int32_t rows,
                               void* scratch, int32_t scratch_bytes, int8_t* y) {
  const PackedMve form = packed_conv2d_mve_form(
      a, scratch_bytes - static_cast<int32_t>(packed_conv2d_add_rows_bytes(a, rows)));
  const auto run = form == PackedMve::in_place  ? packed_conv2d_add_shifts_s8_mve_in_place
                   : form == PackedMve::columns ? packed_conv2d_add_shifts_s8_mve_columns
                   : form == PackedMve::rows    ? packed_conv2d_add_shifts_s8_mve_rows
                                                : packed_conv2d_add_shifts_s8_mve;
  run(a, sum, x, packed, other, rows, scratch, scratch_bytes, y);
}
#else
void run_dsp_form(const PackedConv2dArgs& a, const int8_t* x, const int8_t* packed, void* scratch,
                  int32_t scratch_bytes, int8_t* y) {
  const auto run =
      packed_conv2d_is_alone(a) ? packed_conv2d_s8_dsp_alone : packed_conv2d_s8_dsp_windows;
  (a.has_shifts && !packed_conv2d_is_alone(a) ? packed_conv2d_s8_dsp : run)(a, x, packed, scratch,
                                                                            scratch_bytes, y);
}

void run_scalar_form(const PackedConv2dArgs& a, const int8_t* x, const int8_t* packed,
                     void* scratch, int32_t scratch_bytes, int8_t* y) {
  if (packed_conv2d_is_alone(a)) return packed_conv2d_s8_scalar_alone(a, x, packed, y);
  const bool fits = scratch_bytes >= packed_conv2d_windows_bytes(a, Packing::scalar_1x4);
  (fits ? packed_conv2d_s8_scalar_in_scratch : packed_conv2d_s8_scalar)(a, x, packed, scratch,
                                                                        scratch_bytes, y);
}

void run_shifts_dsp_form(const PackedConv2dArgs& a, const int8_t* x, const int8_t* packed,
                         void* scratch, int32_t scratch_bytes, int8_t* y) {
  const auto run =
      packed_conv2d_is_alone(a) ? packed_conv2d_shifts_s8_dsp : packed_conv2d_shifts_s8_dsp_windows;
  run(a, x, packed, scratch, scratch_bytes, y);
}
#endif

// What is called of an operator: the kernel that chooses, or the form that a C program names.
void set_runs(Random& r, bool adds, bool shifts, PackedKernel& own) {
  const bool by_form = r.one_in(2);
#if defined(__ARM_FEATURE_MVE)
  if (shifts) own.run = by_form ? run_shifts_mve_form : packed_conv2d_shifts_s8_mve;
  else own.run = by_form ? run_mve_form : packed_conv2d_s8_mve;
  if (!adds) return;
  if (shifts)
    own.run_with_addition = by_form ? run_added_shifts_mve_form : packed_conv2d_add_shifts_s8_mve;
  else own.run_with_addition = by_form ? run_added_mve_form : packed_conv2d_add_s8_mve;
#else
  if constexpr (kHasDsp) {
    if (shifts) own.run = by_form ? run_shifts_dsp_form : packed_conv2d_shifts_s8_dsp;
    else own.run = by_form ? run_dsp_form : packed_conv2d_s8_dsp;
    if (adds)
      own.run_with_addition = shifts ? packed_conv2d_add_shifts_s8_dsp : packed_conv2d_add_s8_dsp;
  }
  if constexpr (kHasScalar) {
    own.run = by_form ? run_scalar_form : packed_conv2d_s8_scalar;
    if (adds) own.run_with_addition = packed_conv2d_add_s8_scalar;
  }
#endif
}

Outcome check_packed(uint32_t seed, const char* name, bool adds, bool shifts) {
  Random r(seed);
  Conv2dArgs a = some_packed(r);
  Line line("@differs ");
  line.text(name).text(" ").number(seed);
  PackedKernel own{nullptr, packed_conv2d_least_scratch_bytes, packed_conv2d_scratch_bytes};
  if (adds)
    own.least = packed_conv2d_add_least_scratch_bytes, own.most = packed_conv2d_add_scratch_bytes;
  own.all_shifts = shifts;
  set_runs(r, adds, shifts, own);
  if constexpr (kHasMve) return run_packed<Packing::mve_4x16>(r, a, line, own);
  if constexpr (kHasDsp) return run_packed<Packing::dsp_4x4>(r, a, line, own);
  if constexpr (kHasScalar)
    if (!shifts) return run_packed<Packing::scalar_1x4>(r, a, line, own);
  return Outcome::not_served;
}

}  // namespace

// Rows of a fully connected layer behind a relu, some of which end with zeros.
Outcome check_packed_linear(uint32_t seed) {
  Random r(seed);
  Conv2dArgs a{};
  do {
    a = some_packed(r);
  } while (a.kernel_h != 1 || a.kernel_w != 1 || a.stride_h != 1 || a.stride_w != 1 ||
           a.in_h != a.out_h || a.in_w != a.out_w);
  Line line("@differs packed_linear ");
  line.number(seed);
  PackedKernel own{nullptr, packed_conv2d_least_scratch_bytes, packed_conv2d_scratch_bytes};
  own.behind_relu = true;
#if defined(__ARM_FEATURE_MVE)
  own.run = packed_linear_s8_mve;
  return run_packed<Packing::mve_4x16>(r, a, line, own);
#else
  if constexpr (!kHasDsp) return Outcome::not_served;
  else own.run = packed_linear_s8_dsp;
  return run_packed<Packing::dsp_4x4>(r, a, line, own);
#endif
}

Outcome check_packed_conv2d(uint32_t seed) {
  return check_packed(seed, "packed_conv2d", false, false);
}
Outcome check_packed_conv2d_shifts(uint32_t seed) {
  return check_packed(seed, "packed_conv2d_shifts", false, true);
}
Outcome check_packed_conv2d_add(uint32_t seed) {
  return check_packed(seed, "packed_conv2d_add", true, false);
}
Outcome check_packed_conv2d_add_shifts(uint32_t seed) {
  return check_packed(seed, "packed_conv2d_add_shifts", true, true);
}

Outcome check_matmul(uint32_t seed) {
  Random r(seed);
  MatmulArgs a{};
  a.batch = r.between(1, 3), a.rows = r.between(1, r.one_in(3) ? 80 : 9),
  a.inner = r.between(1, 100), a.columns = some_channels(r);
  a.x_offset = r.one_in(4) ? r.between(-255, 255) : -a_zero(r);
  a.other_offset = r.one_in(2) ? 0 : r.one_in(4) ? r.between(-255, 255) : -a_zero(r);
  a.y_zero = a_zero(r);
  fill_scales(r, &a.multiplier, &a.shift, 1);
  const uint32_t xs = static_cast<uint32_t>(a.batch * a.rows * a.inner),
                 others = static_cast<uint32_t>(a.batch * a.columns * a.inner);
  const uint32_t ys = static_cast<uint32_t>(a.batch * a.rows * a.columns);
  int8_t *x = at_end_of_ram(xs), *other = at_end_of_pool(others);
  fill_bytes(r, x, static_cast<int32_t>(xs));
  fill_bytes(r, other, static_cast<int32_t>(others));
  const Guarded expected = guarded(0, ys), found = guarded(1, ys, r.between(0, 3));
  Line line("@differs matmul ");
  const int32_t values[] = {a.batch,        a.rows,   a.columns,    a.inner, a.x_offset,
                            a.other_offset, a.y_zero, a.multiplier, a.shift};
  line.number(seed).text(" batch,rows,columns,inner,xo,oo,yz,m,s");
  for (const int32_t v : values) line.text(" ").signed_number(v);
  matmul_s8(a, x, other, expected.data);
  if constexpr (kHasMve) {
    if (why_not_linear_mve(linear_of(a))) return Outcome::not_served;
    matmul_s8_mve(a, x, other, found.data);
    return compared(expected, found, ys, nullptr, line);
  }
  if constexpr (kHasDsp) {
    if (why_not_linear_dsp(linear_of(a))) return Outcome::not_served;
    matmul_s8_dsp(a, x, other, found.data);
    return compared(expected, found, ys, nullptr, line);
  }
  if constexpr (kHasScalar) {
    matmul_s8_scalar(a, x, other, found.data);
    return compared(expected, found, ys, nullptr, line);
  }
  return Outcome::not_served;
}

}  // namespace deuteron

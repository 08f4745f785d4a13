// SPDX-License-Identifier: Apache-2.0
// Float convolution of one or two spatial dimensions, grouped, dilated, transposed, in any memory
// order: what the dialect does not take.
#include <initializer_list>

#include "kernels/portable/kernels.h"
#include "kernels/portable/window.h"

namespace deuteron {
namespace {
using namespace portable;

struct Convolution {
  const float *x, *w, *bias;
  float* y;
  Image xi, wi, yi;  // the weight as [o, c / groups, kh, kw], transposed: [c, o / groups, kh, kw]
  int32_t stride_h, stride_w, pad_h, pad_w, dilation_h, dilation_w, groups;
};

void run_convolution(const Convolution& c) {
  const int32_t o_group = c.yi.c / c.groups;
  for (int32_t n = 0; n < c.yi.n; ++n)
    for (int32_t o = 0; o < c.yi.c; ++o) {
      const int32_t first = o / o_group * c.wi.c;
      for (int32_t oh = 0; oh < c.yi.h; ++oh)
        for (int32_t ow = 0; ow < c.yi.w; ++ow) {
          float sum = 0;
          for (int32_t ic = 0; ic < c.wi.c; ++ic)
            for (int32_t kh = 0; kh < c.wi.h; ++kh) {
              const int32_t ih = oh * c.stride_h + kh * c.dilation_h - c.pad_h;
              if (ih < 0 || ih >= c.xi.h) continue;
              for (int32_t kw = 0; kw < c.wi.w; ++kw) {
                const int32_t iw = ow * c.stride_w + kw * c.dilation_w - c.pad_w;
                if (iw < 0 || iw >= c.xi.w) continue;
                sum += c.x[c.xi.at(n, first + ic, ih, iw)] * c.w[c.wi.at(o, ic, kh, kw)];
              }
            }
          c.y[c.yi.at(n, o, oh, ow)] = c.bias ? sum + c.bias[o] : sum;
        }
    }
}

void run_transposed(const Convolution& c) {
  const int32_t c_group = c.xi.c / c.groups;
  for (int32_t n = 0; n < c.yi.n; ++n)
    for (int32_t o = 0; o < c.yi.c; ++o)
      for (int32_t oh = 0; oh < c.yi.h; ++oh)
        for (int32_t ow = 0; ow < c.yi.w; ++ow) c.y[c.yi.at(n, o, oh, ow)] = c.bias ? c.bias[o] : 0;
  for (int32_t n = 0; n < c.xi.n; ++n)
    for (int32_t ic = 0; ic < c.xi.c; ++ic)
      for (int32_t ih = 0; ih < c.xi.h; ++ih)
        for (int32_t iw = 0; iw < c.xi.w; ++iw) {
          const float v = c.x[c.xi.at(n, ic, ih, iw)];
          for (int32_t k = 0; k < c.wi.c; ++k) {
            const int32_t o = ic / c_group * c.wi.c + k;
            for (int32_t kh = 0; kh < c.wi.h; ++kh) {
              const int32_t oh = ih * c.stride_h + kh * c.dilation_h - c.pad_h;
              if (oh < 0 || oh >= c.yi.h) continue;
              for (int32_t kw = 0; kw < c.wi.w; ++kw) {
                const int32_t ow = iw * c.stride_w + kw * c.dilation_w - c.pad_w;
                if (ow < 0 || ow >= c.yi.w) continue;
                c.y[c.yi.at(n, o, oh, ow)] += v * c.w[c.wi.at(ic, k, kh, kw)];
              }
            }
          }
        }
}

int64_t extent(int32_t in, int32_t kernel, int32_t stride, int32_t pad, int32_t dilation) {
  const int64_t span = int64_t{in} + 2 * pad - int64_t{dilation} * (kernel - 1) - 1;
  return span < 0 ? 0 : span / stride + 1;
}
int64_t transposed_extent(int32_t in, int32_t kernel, int32_t stride, int32_t pad, int32_t dilation,
                          int32_t added) {
  return int64_t{in - 1} * stride - 2 * pad + int64_t{dilation} * (kernel - 1) + 1 + added;
}

bool has_extents(const Convolution& c, bool transposed, int32_t added_h, int32_t added_w) {
  if (transposed)
    return transposed_extent(c.xi.h, c.wi.h, c.stride_h, c.pad_h, c.dilation_h, added_h) ==
               c.yi.h &&
           transposed_extent(c.xi.w, c.wi.w, c.stride_w, c.pad_w, c.dilation_w, added_w) == c.yi.w;
  return extent(c.xi.h, c.wi.h, c.stride_h, c.pad_h, c.dilation_h) == c.yi.h &&
         extent(c.xi.w, c.wi.w, c.stride_w, c.pad_w, c.dilation_w) == c.yi.w;
}

// (x, weight, bias?, stride, padding, dilation, transposed, output_padding, groups, out)
Status prepare_convolution(Call& call, Prepared* prepared) {
  const Tensor &x = call.tensor(0), &w = call.tensor(1), &y = call.tensor(9);
  const Tensor* bias = call.optional_tensor(2);
  for (const int i : {0, 1, 9}) {
    if (call.tensor(i).type != ScalarType::f32) return bad_argument(i, "must be float");
    if (call.tensor(i).rank != x.rank || x.rank < 3 || x.rank > 4)
      return bad_argument(i, "must have rank 3 or 4");
  }
  const int spatial = x.rank - 2;
  Convolution c{static_cast<const float*>(x.data),
                static_cast<const float*>(w.data),
                nullptr,
                static_cast<float*>(y.data),
                image_of(x),
                image_of(w),
                image_of(y),
                1,
                1,
                0,
                0,
                1,
                1,
                1};
  int32_t added_h = 0, added_w = 0;
  if (const char* why = read_window(call, 3, spatial, 1, kMostWindow, &c.stride_h, &c.stride_w))
    return bad_argument(3, why);
  if (const char* why = read_window(call, 4, spatial, 0, kMostWindow, &c.pad_h, &c.pad_w))
    return bad_argument(4, why);
  if (const char* why = read_window(call, 5, spatial, 1, kMostWindow, &c.dilation_h, &c.dilation_w))
    return bad_argument(5, why);
  const bool transposed = call.boolean(6);
  if (transposed)
    if (const char* why = read_window(call, 7, spatial, 0, kMostWindow, &added_h, &added_w))
      return bad_argument(7, why);
  for (const int32_t size : {c.xi.h, c.xi.w, c.yi.h, c.yi.w, c.wi.h, c.wi.w})
    if (size > kMostWindow)
      return bad_argument(0, "is larger than 32768 along a spatial dimension");
  const int64_t groups = call.integer(8);
  if (groups < 1 || groups > INT32_MAX || c.xi.c % groups != 0 || c.yi.c % groups != 0)
    return bad_argument(8, "must divide the channels");
  c.groups = static_cast<int32_t>(groups);
  if (c.xi.n != c.yi.n) return bad_argument(9, "has another batch than the input");
  const int32_t many = transposed ? c.xi.c : c.yi.c,
                few = (transposed ? c.yi.c : c.xi.c) / c.groups;
  if (c.wi.n != many || c.wi.c != few) return bad_argument(1, "does not fit the channels");
  if (!has_extents(c, transposed, added_h, added_w))
    return bad_argument(9, "has the wrong height or width");
  if (y.numel == 0 || w.numel == 0) return bad_argument(9, "has no elements");
  if (bias) {
    if (bias->type != ScalarType::f32) return bad_argument(2, "must be float");
    if (bias->numel != c.yi.c)
      return bad_argument(2, "must have one entry for each output channel");
    c.bias = static_cast<const float*>(bias->data);
  }
  return transposed ? keep<Convolution, run_transposed>(call, prepared, c)
                    : keep<Convolution, run_convolution>(call, prepared, c);
}

}  // namespace

extern const Kernel kAtenConvolution = {"aten::convolution.out", "TTtLLLBLIO", prepare_convolution};

}  // namespace deuteron

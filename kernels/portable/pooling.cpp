// SPDX-License-Identifier: Apache-2.0
// Pooling outside the dialect: average (also adaptive) on float, maximum with positions on float
// and int8. Any memory order.
#include <initializer_list>

#include "kernels/portable/kernels.h"
#include "kernels/portable/window.h"

namespace deuteron {
namespace {
using namespace portable;

struct Pool {
  const void* x;
  void* y;
  int64_t* positions;
  Image xi, yi, pi;
  int32_t kernel_h, kernel_w, stride_h, stride_w, pad_h, pad_w, dilation_h, dilation_w;
  int32_t divisor;  // 0: the number of elements
  bool count_pad;
  ScalarType type;
};

int32_t at_least(int32_t v, int32_t low) { return v < low ? low : v; }
int32_t at_most(int32_t v, int32_t high) { return v > high ? high : v; }

void run_average(const Pool& p) {
  const float* x = static_cast<const float*>(p.x);
  for (int32_t n = 0; n < p.yi.n; ++n)
    for (int32_t c = 0; c < p.yi.c; ++c)
      for (int32_t oh = 0; oh < p.yi.h; ++oh)
        for (int32_t ow = 0; ow < p.yi.w; ++ow) {
          const int32_t h0 = oh * p.stride_h - p.pad_h, w0 = ow * p.stride_w - p.pad_w;
          // With padding counted, a window that reaches beyond the padding (ceil mode) counts only
          // up to its end.
          const int32_t h_end = at_most(h0 + p.kernel_h, p.xi.h + p.pad_h),
                        w_end = at_most(w0 + p.kernel_w, p.xi.w + p.pad_w);
          const int32_t padded = (h_end - h0) * (w_end - w0);
          float sum = 0;
          int32_t count = 0;
          for (int32_t h = at_least(h0, 0); h < at_most(h_end, p.xi.h); ++h)
            for (int32_t w = at_least(w0, 0); w < at_most(w_end, p.xi.w); ++w, ++count)
              sum += x[p.xi.at(n, c, h, w)];
          const int32_t divisor = p.divisor != 0 ? p.divisor : p.count_pad ? padded : count;
          static_cast<float*>(p.y)[p.yi.at(n, c, oh, ow)] =
              divisor == 0 ? 0 : sum / static_cast<float>(divisor);
        }
}

void run_maximum(const Pool& p) {
  for (int32_t n = 0; n < p.yi.n; ++n)
    for (int32_t c = 0; c < p.yi.c; ++c)
      for (int32_t oh = 0; oh < p.yi.h; ++oh)
        for (int32_t ow = 0; ow < p.yi.w; ++ow) {
          double largest = -__builtin_inf();
          int64_t at = 0;
          bool any = false;
          for (int32_t kh = 0; kh < p.kernel_h; ++kh) {
            const int32_t h = oh * p.stride_h + kh * p.dilation_h - p.pad_h;
            if (h < 0 || h >= p.xi.h) continue;
            for (int32_t kw = 0; kw < p.kernel_w; ++kw) {
              const int32_t w = ow * p.stride_w + kw * p.dilation_w - p.pad_w;
              if (w < 0 || w >= p.xi.w) continue;
              const double v = read_real(p.x, p.xi.at(n, c, h, w), p.type);
              if (!any || v > largest || v != v) largest = v, at = int64_t{h} * p.xi.w + w;
              any = true;
            }
          }
          write_real(p.y, p.yi.at(n, c, oh, ow), p.type, any ? largest : 0);
          p.positions[p.pi.at(n, c, oh, ow)] = at;
        }
}

// Averages of areas whose borders are the input's extent divided evenly, rounded outwards.
void run_adaptive(const Pool& p) {
  const float* x = static_cast<const float*>(p.x);
  const auto first = [](int32_t i, int32_t in, int32_t out) {
    return static_cast<int32_t>(int64_t{i} * in / out);
  };
  const auto end = [](int32_t i, int32_t in, int32_t out) {
    return static_cast<int32_t>((int64_t{i + 1} * in + out - 1) / out);
  };
  for (int32_t n = 0; n < p.yi.n; ++n)
    for (int32_t c = 0; c < p.yi.c; ++c)
      for (int32_t oh = 0; oh < p.yi.h; ++oh)
        for (int32_t ow = 0; ow < p.yi.w; ++ow) {
          float sum = 0;
          int32_t count = 0;
          for (int32_t h = first(oh, p.xi.h, p.yi.h); h < end(oh, p.xi.h, p.yi.h); ++h)
            for (int32_t w = first(ow, p.xi.w, p.yi.w); w < end(ow, p.xi.w, p.yi.w); ++w, ++count)
              sum += x[p.xi.at(n, c, h, w)];
          static_cast<float*>(p.y)[p.yi.at(n, c, oh, ow)] = sum / static_cast<float>(count);
        }
}

const char* why_not_images(const Tensor& x, const Tensor& y) {
  if (x.rank != 4 || y.rank != 4) return "must have rank 4";
  if (x.sizes[0] != y.sizes[0] || x.sizes[1] != y.sizes[1])
    return "has another batch or number of channels than the input";
  if (x.numel == 0 || y.numel == 0) return "has no elements";
  for (const int i : {2, 3})
    if (x.sizes[i] > kMostWindow || y.sizes[i] > kMostWindow)
      return "is larger than 32768 along a spatial dimension";
  return nullptr;
}

// torch's rule: in ceil mode a last window must begin inside the input or its left padding.
bool is_extent(int32_t out, int32_t in, int32_t kernel, int32_t stride, int32_t pad,
               int32_t dilation, bool ceil_mode) {
  const int64_t span = int64_t{in} + 2 * pad - int64_t{dilation} * (kernel - 1) - 1;
  if (span < 0) return false;
  int64_t n = (span + (ceil_mode ? stride - 1 : 0)) / stride + 1;
  if (ceil_mode && (n - 1) * stride >= int64_t{in} + pad) --n;
  return n == out;
}

// kernel, stride (the kernel's if empty) and padding at arguments 1, 2, 3
Status fill_pool(const Call& call, const Tensor& y, bool ceil_mode, Pool* p) {
  if (const char* why = read_window(call, 1, 2, 1, kMostWindow, &p->kernel_h, &p->kernel_w))
    return bad_argument(1, why);
  p->stride_h = p->kernel_h;
  p->stride_w = p->kernel_w;
  if (call.list(2).count > 0)
    if (const char* why = read_window(call, 2, 2, 1, kMostWindow, &p->stride_h, &p->stride_w))
      return bad_argument(2, why);
  if (const char* why = read_window(call, 3, 2, 0, kMostWindow, &p->pad_h, &p->pad_w))
    return bad_argument(3, why);
  if (p->pad_h > p->kernel_h / 2 || p->pad_w > p->kernel_w / 2)
    return bad_argument(3, "must be at most half the kernel");
  if (!is_extent(y.sizes[2], p->xi.h, p->kernel_h, p->stride_h, p->pad_h, p->dilation_h,
                 ceil_mode) ||
      !is_extent(y.sizes[3], p->xi.w, p->kernel_w, p->stride_w, p->pad_w, p->dilation_w, ceil_mode))
    return bad_argument(1, "does not give the out's height and width");
  return Status{};
}

// (x, kernel, stride, padding, ceil, count_pad, divisor?, out)
Status prepare_average(Call& call, Prepared* prepared) {
  const Tensor &x = call.tensor(0), &y = call.tensor(7);
  if (x.type != ScalarType::f32 || y.type != ScalarType::f32)
    return bad_argument(0, "must be float");
  if (const char* why = why_not_images(x, y)) return bad_argument(7, why);
  Pool p{x.data, y.data, nullptr, image_of(x), image_of(y),     {},    1, 1, 1, 1, 0,
         0,      1,      1,       0,           call.boolean(5), x.type};
  const Status s = fill_pool(call, y, call.boolean(4), &p);
  if (!s.ok()) return s;
  if (call.args[6]->kind == Kind::integer) {
    if (!lies_in(call.integer(6), 1, INT32_MAX)) return bad_argument(6, "must be at least 1");
    p.divisor = static_cast<int32_t>(call.integer(6));
  }
  return keep<Pool, run_average>(call, prepared, p);
}

// (x, kernel, stride, padding, dilation, ceil, out, positions)
Status prepare_max_pool(Call& call, Prepared* prepared) {
  const Tensor &x = call.tensor(0), &y = call.tensor(6), &positions = call.tensor(7);
  if (x.type != ScalarType::f32 && x.type != ScalarType::s8)
    return bad_argument(0, "must be float or int8");
  if (y.type != x.type) return bad_argument(6, "must have the input's dtype");
  if (positions.type != ScalarType::s64) return bad_argument(7, "must be int64");
  if (const char* why = why_not_images(x, y)) return bad_argument(6, why);
  if (!same_sizes(y, positions)) return bad_argument(7, "must have the out's sizes");
  Pool p{x.data,      y.data,      static_cast<int64_t*>(positions.data),
         image_of(x), image_of(y), image_of(positions),
         1,           1,           1,
         1,           0,           0,
         1,           1,           0,
         false,       x.type};
  if (const char* why = read_window(call, 4, 2, 1, kMostWindow, &p.dilation_h, &p.dilation_w))
    return bad_argument(4, why);
  const Status s = fill_pool(call, y, call.boolean(5), &p);
  return s.ok() ? keep<Pool, run_maximum>(call, prepared, p) : s;
}

// (x, size, out)
Status prepare_adaptive(Call& call, Prepared* prepared) {
  const Tensor &x = call.tensor(0), &y = call.tensor(2);
  if (x.type != ScalarType::f32 || y.type != ScalarType::f32)
    return bad_argument(0, "must be float");
  if (const char* why = why_not_images(x, y)) return bad_argument(2, why);
  if (call.list(1).count != 2 || call.list_integer(1, 0) != y.sizes[2] ||
      call.list_integer(1, 1) != y.sizes[3])
    return bad_argument(1, "is not the out's height and width");
  return keep<Pool, run_adaptive>(call, prepared,
                                  {x.data,
                                   y.data,
                                   nullptr,
                                   image_of(x),
                                   image_of(y),
                                   {},
                                   1,
                                   1,
                                   1,
                                   1,
                                   0,
                                   0,
                                   1,
                                   1,
                                   0,
                                   false,
                                   x.type});
}

}  // namespace

extern const Kernel kAtenAvgPool2d = {"aten::avg_pool2d.out", "TLLLBBiO", prepare_average};
extern const Kernel kAtenMaxPool2dWithIndices = {"aten::max_pool2d_with_indices.out", "TLLLLBOO",
                                                 prepare_max_pool};
extern const Kernel kAtenAdaptiveAvgPool2d = {"aten::_adaptive_avg_pool2d.out", "TLO",
                                              prepare_adaptive};

}  // namespace deuteron

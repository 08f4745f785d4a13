// SPDX-License-Identifier: Apache-2.0
// What we say of CMSIS-NN against a checkout of it (DEUTERON_STOCK_SOURCES): every scratch size
// that the compiler plans equals the stock query for each instruction set, for all small extents;
// and where ops/*/stock_limits.h say nothing, the stock kernels of the host (plain C) compute what
// ours do and write nothing outside.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <vector>

extern "C" {
#include "arm_nnfunctions.h"
}

#include "ops/avg_pool2d/scratch.h"
#include "ops/conv2d/depthwise_stock_limits.h"
#include "ops/conv_transpose2d/stock_limits.h"
#include "ops/matmul/scratch.h"

namespace deuteron {
namespace {

constexpr Isa kIsas[] = {Isa::scalar, Isa::dsp, Isa::mve};
#if CMSIS_NN_FLUSHES_PARTS_OF_A_STRIDE
constexpr CmsisNn kVersion = CmsisNn::at_99f736a;
#else
constexpr CmsisNn kVersion = CmsisNn::at_dbf45dbf;
#endif

long long compared = 0, failures = 0;

void expect(bool holds, const char* what, Isa isa, const std::vector<int64_t>& numbers) {
  ++compared;
  if (holds || ++failures > 20) return;
  std::printf("%s, %s:", what, name_of(isa));
  for (const int64_t n : numbers) std::printf(" %lld", static_cast<long long>(n));
  std::printf("\n");
}

template <class Args>
std::vector<int64_t> numbers_of(const Args& a) {
  return {a.n,        a.in_h,     a.in_w,     a.in_c,     a.out_h, a.out_w, a.out_c,
          a.kernel_h, a.kernel_w, a.stride_h, a.stride_w, a.pad_h, a.pad_w};
}

template <class Args>
cmsis_nn_dims input_of(const Args& a) {
  return {a.n, a.in_h, a.in_w, a.in_c};
}
template <class Args>
cmsis_nn_dims output_of(const Args& a) {
  return {a.n, a.out_h, a.out_w, a.out_c};
}

// The queries as ExecuTorch's kernels ask them when their runtime checks are on.
int64_t stock_bytes(const Conv2dArgs& a, Isa isa) {
  const cmsis_nn_dims x = input_of(a), w = {a.out_c, a.kernel_h, a.kernel_w, a.kernel_c},
                      y = output_of(a);
  const cmsis_nn_conv_params p = {
      0,          0, {a.stride_w, a.stride_h}, {a.pad_w, a.pad_h}, {a.dilation_w, a.dilation_h},
      {-128, 127}};
  if (isa == Isa::mve) return arm_convolve_wrapper_s8_get_buffer_size_mve(&p, &x, &w, &y);
  if (isa == Isa::dsp) return arm_convolve_wrapper_s8_get_buffer_size_dsp(&p, &x, &w, &y);
  return arm_convolve_wrapper_s8_get_buffer_size(&p, &x, &w, &y);
}
int64_t stock_bytes(const DepthwiseConv2dArgs& a, Isa isa) {
  const cmsis_nn_dims x = input_of(a), w = {1, a.kernel_h, a.kernel_w, a.out_c}, y = output_of(a);
  const cmsis_nn_dw_conv_params p = {0,
                                     0,
                                     a.depth_multiplier,
                                     {a.stride_w, a.stride_h},
                                     {a.pad_w, a.pad_h},
                                     {a.dilation_w, a.dilation_h},
                                     {-128, 127}};
  if (isa == Isa::mve) return arm_depthwise_conv_wrapper_s8_get_buffer_size_mve(&p, &x, &w, &y);
  if (isa == Isa::dsp) return arm_depthwise_conv_wrapper_s8_get_buffer_size_dsp(&p, &x, &w, &y);
  return arm_depthwise_conv_wrapper_s8_get_buffer_size(&p, &x, &w, &y);
}
cmsis_nn_transpose_conv_params params_of(const ConvTranspose2dArgs& a) {
  return {a.x_offset, a.y_zero,   {a.stride_w, a.stride_h}, {a.pad_w, a.pad_h}, {0, 0},
          {1, 1},     {-128, 127}};
}
int64_t stock_bytes(const ConvTranspose2dArgs& a, Isa isa) {
  const cmsis_nn_dims x = input_of(a), w = {a.out_c, a.kernel_h, a.kernel_w, a.in_c},
                      y = output_of(a);
  const cmsis_nn_transpose_conv_params p = params_of(a);
  return isa == Isa::mve ? arm_transpose_conv_s8_get_buffer_size_mve(&p, &x, &w, &y)
                         : arm_transpose_conv_s8_get_buffer_size(&p, &x, &w, &y);
}
int64_t stock_reversed_bytes(const ConvTranspose2dArgs& a) {
  const cmsis_nn_dims x = input_of(a), w = {a.out_c, a.kernel_h, a.kernel_w, a.in_c};
  const cmsis_nn_transpose_conv_params p = params_of(a);
  return arm_transpose_conv_s8_get_reverse_conv_buffer_size(&p, &x, &w);
}

int32_t extent(int32_t in, int32_t kernel, int32_t stride, int32_t dilation, int32_t pad) {
  const int32_t room = in + 2 * pad - dilation * (kernel - 1) - 1;
  return room < 0 ? 0 : room / stride + 1;
}

// visit(args) for all extents of a window over an image; results as large as the symmetric formula
// says, or one more.
template <class Visit>
void each_window(Visit visit) {
  for (const int32_t h : {1, 2, 5, 8})
    for (const int32_t w : {1, 3, 4, 11})
      for (const int32_t kh : {1, 2, 3})
        for (const int32_t kw : {1, 2, 3, 5})
          for (const int32_t sh : {1, 2, 3})
            for (const int32_t sw : {1, 2, 4})
              for (const int32_t ph : {0, 1, 2})
                for (const int32_t pw : {0, 1, 3})
                  for (const int32_t d : {1, 2})
                    for (const int32_t more : {0, 1}) {
                      const int32_t oh = extent(h, kh, sh, d, ph),
                                    ow = extent(w, kw, sw, d, pw) + more;
                      if (oh < 1 || ow < 1) continue;
                      visit(h, w, oh, ow, kh, kw, sh, sw, ph, pw, d);
                    }
}

void check_windows() {
  each_window([](int32_t h, int32_t w, int32_t oh, int32_t ow, int32_t kh, int32_t kw, int32_t sh,
                 int32_t sw, int32_t ph, int32_t pw, int32_t d) {
    for (const int32_t n : {1, 2})
      for (const int32_t c : {1, 2, 4, 6})
        for (const int32_t oc : {1, 2, 12}) {
          for (const Isa isa : kIsas) {
            for (const int32_t groups : {1, 2}) {
              if (c % groups != 0 || oc % groups != 0) continue;
              const Conv2dArgs a{n,  h,  w,  c, oh, ow, oc, kh,   kw,  c / groups, sh,
                                 sw, ph, pw, d, d,  0,  0,  -128, 127, nullptr,    nullptr};
              expect(conv2d_scratch_bytes(a, isa) == stock_bytes(a, isa), "scratch of conv2d", isa,
                     numbers_of(a));
            }
            if (oc % c != 0) continue;
            const DepthwiseConv2dArgs a{n,  h,  w,  c, oh, ow, oc, oc / c, kh,  kw,      sh,
                                        sw, ph, pw, d, d,  0,  0,  -128,   127, nullptr, nullptr};
            expect(depthwise_conv2d_scratch_bytes(a, isa) == stock_bytes(a, isa),
                   "scratch of depthwise_conv2d", isa, numbers_of(a));
          }
        }
  });
}

void check_transposed() {
  for (const int32_t n : {1, 2})
    for (const int32_t h : {1, 2, 5})
      for (const int32_t w : {1, 3, 4})
        for (const int32_t c : {1, 16, 17, 24})
          for (const int32_t oc : {1, 3, 8})
            for (const int32_t kh : {1, 2, 3, 5})
              for (const int32_t kw : {1, 2, 4})
                for (const int32_t sh : {1, 2, 3})
                  for (const int32_t sw : {1, 2, 4}) {
                    const ConvTranspose2dArgs a{n,
                                                h,
                                                w,
                                                c,
                                                (h - 1) * sh + kh,
                                                (w - 1) * sw + kw,
                                                oc,
                                                kh,
                                                kw,
                                                sh,
                                                sw,
                                                0,
                                                0,
                                                0,
                                                0,
                                                -128,
                                                127,
                                                nullptr,
                                                nullptr};
                    for (const Isa isa : kIsas)
                      expect(conv_transpose2d_scratch_bytes(a, isa) == stock_bytes(a, isa),
                             "scratch of conv_transpose2d", isa, numbers_of(a));
                    expect(conv_transpose2d_output_scratch_bytes(a) == stock_reversed_bytes(a),
                           "filter of conv_transpose2d", Isa::scalar, numbers_of(a));
                  }
}

void check_others() {
  for (int32_t c = 1; c < 70; ++c)
    for (int32_t w = 1; w < 20; ++w) {
      const AvgPool2dArgs pool{1, 4, w, c, 4, w, 1, 1, 1, 1, 0, 0, 0};
      const cmsis_nn_dims rows = {1, 2, 3, c};
      const int64_t pools[] = {arm_avgpool_s8_get_buffer_size(w, c),
                               arm_avgpool_s8_get_buffer_size_dsp(w, c),
                               arm_avgpool_s8_get_buffer_size_mve(w, c)};
      const int64_t products[] = {arm_fully_connected_s8_get_buffer_size(&rows),
                                  arm_fully_connected_s8_get_buffer_size_dsp(&rows),
                                  arm_fully_connected_s8_get_buffer_size_mve(&rows)};
      for (const Isa isa : kIsas) {
        const auto k = static_cast<size_t>(isa);
        expect(avg_pool2d_scratch_bytes(pool, isa) == pools[k], "scratch of avg_pool2d", isa,
               {w, c});
        expect(matmul_scratch_bytes({2, 3, c, 5, 0, 0, 0, 0, 0}, isa) == products[k],
               "scratch of matmul", isa, {c});
      }
    }
}

// Random kernels on random bytes: operands, the contract's result and the stock kernel's, with
// guards around that.
class Random {
 public:
  explicit Random(uint32_t seed) : engine_(seed) {}
  int32_t between(int32_t low, int32_t high) {
    return std::uniform_int_distribution<int32_t>(low, high)(engine_);
  }
  template <class T>
  std::vector<T> many(int64_t count, int32_t low, int32_t high) {
    std::vector<T> v(static_cast<size_t>(count));
    for (T& x : v) x = static_cast<T>(between(low, high));
    return v;
  }

 private:
  std::mt19937 engine_;
};

constexpr int64_t kGuard = 1 << 14;

template <class Args, class Ours, class Stock>
bool is_same(Args a, int64_t weights, int64_t scratch, int64_t reversed, Random& r, Ours ours,
             Stock stock) {
  const auto x = r.many<int8_t>(int64_t{a.n} * a.in_h * a.in_w * a.in_c, -128, 127),
             w = r.many<int8_t>(weights, -127, 127);
  const auto bias = r.many<int32_t>(a.out_c, -2000, 2000),
             multiplier = r.many<int32_t>(a.out_c, 1 << 24, 1 << 26),
             shift = r.many<int32_t>(a.out_c, -3, 1);
  a.x_offset = r.between(-127, 128), a.y_zero = r.between(-128, 127), a.y_min = -128, a.y_max = 127;
  a.multiplier = multiplier.data(), a.shift = shift.data();
  const int64_t count = int64_t{a.n} * a.out_h * a.out_w * a.out_c;
  std::vector<int8_t> expected(static_cast<size_t>(count)),
      found(static_cast<size_t>(count + 2 * kGuard), 0x5a);
  ours(a, x.data(), w.data(), bias.data(), expected.data());
  std::vector<int8_t> room(static_cast<size_t>(scratch + kGuard), 0x5a),
      filter(static_cast<size_t>(reversed + kGuard), 0x5a);
  const cmsis_nn_context context = {room.data(), static_cast<int32_t>(scratch)},
                         more = {filter.data(), static_cast<int32_t>(reversed)};
  const cmsis_nn_per_channel_quant_params scales = {const_cast<int32_t*>(a.multiplier),
                                                    const_cast<int32_t*>(a.shift)};
  const bool ok = stock(a, context, more, scales, x.data(), w.data(), bias.data(),
                        found.data() + kGuard) == ARM_CMSIS_NN_SUCCESS;
  const auto is_guard = [](const int8_t* p) {
    for (int64_t i = 0; i < kGuard; ++i)
      if (p[i] != 0x5a) return false;
    return true;
  };
  return ok && std::memcmp(found.data() + kGuard, expected.data(), expected.size()) == 0 &&
         is_guard(found.data()) && is_guard(found.data() + kGuard + count) &&
         is_guard(room.data() + scratch) && is_guard(filter.data() + reversed);
}

arm_cmsis_nn_status stock_transposed(const ConvTranspose2dArgs& a, cmsis_nn_context context,
                                     cmsis_nn_context reversed,
                                     cmsis_nn_per_channel_quant_params scales, const int8_t* x,
                                     const int8_t* w, const int32_t* bias, int8_t* y) {
  const cmsis_nn_dims in = input_of(a), filter = {a.out_c, a.kernel_h, a.kernel_w, a.in_c},
                      out = output_of(a), biases = {1, 1, 1, a.out_c};
  const cmsis_nn_transpose_conv_params p = params_of(a);
  return arm_transpose_conv_wrapper_s8(&context, &reversed, &p, &scales, &in, x, &filter, w,
                                       &biases, bias, &out, y);
}
arm_cmsis_nn_status stock_convolved(const Conv2dArgs& a, cmsis_nn_context context, cmsis_nn_context,
                                    cmsis_nn_per_channel_quant_params scales, const int8_t* x,
                                    const int8_t* w, const int32_t* bias, int8_t* y) {
  const cmsis_nn_dims in = input_of(a), filter = {a.out_c, a.kernel_h, a.kernel_w, a.kernel_c},
                      out = output_of(a), biases = {1, 1, 1, a.out_c};
  const cmsis_nn_conv_params p = {a.x_offset,
                                  a.y_zero,
                                  {a.stride_w, a.stride_h},
                                  {a.pad_w, a.pad_h},
                                  {a.dilation_w, a.dilation_h},
                                  {-128, 127}};
  return arm_convolve_wrapper_s8(&context, &p, &scales, &in, x, &filter, w, &biases, bias, &out, y);
}
arm_cmsis_nn_status stock_depthwise(const DepthwiseConv2dArgs& a, cmsis_nn_context context,
                                    cmsis_nn_context, cmsis_nn_per_channel_quant_params scales,
                                    const int8_t* x, const int8_t* w, const int32_t* bias,
                                    int8_t* y) {
  const cmsis_nn_dims in = input_of(a), filter = {1, a.kernel_h, a.kernel_w, a.out_c},
                      out = output_of(a), biases = {1, 1, 1, a.out_c};
  const cmsis_nn_dw_conv_params p = {a.x_offset,         a.y_zero,
                                     a.depth_multiplier, {a.stride_w, a.stride_h},
                                     {a.pad_w, a.pad_h}, {a.dilation_w, a.dilation_h},
                                     {-128, 127}};
  return arm_depthwise_conv_wrapper_s8(&context, &p, &scales, &in, x, &filter, w, &biases, bias,
                                       &out, y);
}

// Of the calls that the limits forbid, the share that the stock kernel really gets wrong.
struct Forbidden {
  const char* op;
  int calls = 0, wrong = 0;
  void count(bool same) { ++calls, wrong += !same; }
};

void check_kernels(int rounds) {
  Forbidden transposed{"conv_transpose2d"}, depthwise{"depthwise_conv2d"};
  Random r(20261122);
  for (int k = 0; k < rounds; ++k) {
    const int32_t n = r.between(1, 2), h = r.between(1, 6), w = r.between(1, 6),
                  kh = r.between(1, 5), kw = r.between(1, 5), oc = r.between(1, 5);
    const int32_t sh = r.between(1, 3), sw = r.between(1, 4), ph = r.between(0, 3),
                  pw = r.between(0, 3);
    const int32_t c = k % 2 == 0 ? r.between(1, 16) : r.between(17, 24);
    const int32_t th = (h - 1) * sh + kh - 2 * ph + r.between(0, sh - 1),
                  tw = (w - 1) * sw + kw - 2 * pw + r.between(0, sw - 1);
    if (th > 0 && tw > 0) {
      const ConvTranspose2dArgs a{n,  h,  w,  c, th, tw,   oc,  kh,      kw,     sh,
                                  sw, ph, pw, 0, 0,  -128, 127, nullptr, nullptr};
      const char* why = why_stock_conv_transpose2d_differs(a, kVersion);
      if (why && a.pad_h % a.stride_h == 0) continue;  // it may read or write anywhere
      const bool same = is_same(
          a, int64_t{oc} * kh * kw * c, conv_transpose2d_scratch_bytes(a, Isa::scalar),
          conv_transpose2d_output_scratch_bytes(a), r, conv_transpose2d_s8, stock_transposed);
      if (why) transposed.count(same);
      else expect(same, "conv_transpose2d", Isa::scalar, numbers_of(a));
    }
    const int32_t oh = extent(h, kh, sh, 1, ph) + r.between(0, 1),
                  ow = extent(w, kw, sw, 1, pw) + r.between(0, 1);
    if (oh < 1 || ow < 1 || (oh - 1) * sh - ph >= h || (ow - 1) * sw - pw >= w) continue;
    const Conv2dArgs a{n,  h,  w,  c, oh, ow, oc, kh,   kw,  c,       sh,
                       sw, ph, pw, 1, 1,  0,  0,  -128, 127, nullptr, nullptr};
    if (why_stock_conv2d_differs(a, Isa::scalar)) continue;  // it would write past the end
    expect(is_same(a, int64_t{oc} * kh * kw * c, conv2d_scratch_bytes(a, Isa::scalar), 0, r,
                   conv2d_s8, stock_convolved),
           "conv2d", Isa::scalar, numbers_of(a));
    const int32_t m = r.between(1, 2);
    const DepthwiseConv2dArgs d{1,  h,  w,  c, oh, ow, c * m, m,    kh,  kw,      sh,
                                sw, ph, pw, 1, 1,  0,  0,     -128, 127, nullptr, nullptr};
    const char* why = why_stock_depthwise_conv2d_differs(d, Isa::scalar);
    const bool same =
        is_same(d, int64_t{kh} * kw * c * m, depthwise_conv2d_scratch_bytes(d, Isa::scalar), 0, r,
                depthwise_conv2d_s8, stock_depthwise);
    if (why) depthwise.count(same);
    else expect(same, "depthwise_conv2d", Isa::scalar, numbers_of(d));
  }
  for (const Forbidden& f : {transposed, depthwise}) {
    std::printf("%s: %d forbidden calls, the stock kernel gets %d of them wrong\n", f.op, f.calls,
                f.wrong);
    if (f.wrong * 20 < f.calls * 19) ++failures;  // a limit that forbids what is right
  }
}

}  // namespace
}  // namespace deuteron

// CMSIS-NN limits [ROUNDS]
int main(int argc, char** argv) {
  using namespace deuteron;
  check_windows();
  check_transposed();
  check_others();
  check_kernels(argc > 1 ? std::atoi(argv[1]) : 20000);
  std::printf("CMSIS-NN %s: %lld comparisons, %lld differ\n", name_of(kVersion), compared,
              failures);
  return failures != 0;
}

// SPDX-License-Identifier: Apache-2.0
#include "ops/conv2d/layer_s8_s16.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "kernels/conv2d/s8_s16/kernel.h"
#include "ops/common/bounds.h"
#include "ops/common/int16.h"
#include "ops/common/sum_range.h"

namespace deuteron {

enum { kImage, kFilters, kFirst };

namespace {

PackedConv2dArgs args_of(const Int16Layer& l, const Quant& x) {
  const auto i = [](i64 v) { return static_cast<i32>(v); };
  PackedConv2dArgs a{};
  a.n = i(l.x[0]), a.in_h = i(l.x[1]), a.in_w = i(l.x[2]), a.in_c = i(l.x[3]);
  a.out_h = i(l.y[1]), a.out_w = i(l.y[2]), a.out_c = i(l.y[3]);
  a.kernel_h = i(l.weight[1]), a.kernel_w = i(l.weight[2]);
  a.stride_h = i(l.stride.h), a.stride_w = i(l.stride.w), a.pad_h = i(l.pad.h),
  a.pad_w = i(l.pad.w);
  a.dilation_h = i(l.dilation.h), a.dilation_w = i(l.dilation.w);
  a.x_zero = x.zero_point[0];
  set_dense_result(a);
  return a;
}

// What there is for each filter, and the shift of all sums: the least with which every multiplier
// is below 1.
struct FilterNumbers {
  std::vector<i32> first, multiplier;
  i64 shift = 0;
};

Result<FilterNumbers> filter_numbers(const Int16Layer& l, const LowerContext& c,
                                     std::span<const int8_t> weights) {
  const Quant& x = c.in[kImage].quant;
  FilterNumbers n;
  double most = 0;
  for (i64 o = 0; o < l.filters(); ++o) most = std::max(most, int16_factor(c, o));
  while (n.shift < kS8S16MostShift &&
         std::nearbyint(std::ldexp(most, static_cast<int>(31 - n.shift))) > INT32_MAX)
    ++n.shift;
  for (i64 o = 0; o < l.filters(); ++o) {
    const std::span<const int8_t> filter =
        weights.subspan(static_cast<size_t>(o * l.length()), static_cast<size_t>(l.length()));
    const i64 bias = c.in.size() > 2 ? c.data[kFirst]->as<i32>()[o] : 0;
    SumRange sum = sum_range(filter, x, bias);
    sum.low <<= n.shift, sum.high <<= n.shift;
    if (!fits_int32(sum))
      return Refusal{fmt::format("the sums of filter {} times 2^{} leave int32", o, n.shift),
                     fmt::format("{}..{}", sum.low, sum.high),
                     fmt::format("{}..{}", INT32_MIN, INT32_MAX), "int16.sums"};
    const double value =
        std::nearbyint(std::ldexp(int16_factor(c, o), static_cast<int>(31 - n.shift)));
    if (!(value <= INT32_MAX))
      return Refusal{"the result's scale is too fine for the products",
                     fmt::format("{:g}", int16_factor(c, o)),
                     fmt::format("less than {}", 1 << kS8S16MostShift), "int16.scale"};
    i64 total = 0;
    for (const int8_t w : filter) total += w;
    n.first.push_back(static_cast<i32>(static_cast<uint32_t>(
        bias - x.zero_point[0] * total)));  // sums wrap, and end up within int32
    n.multiplier.push_back(static_cast<i32>(value));
  }
  return n;
}

}  // namespace

Result<Lowered> lower_int16_result(const Int16Layer& l, const LowerContext& c) {
  if (auto why = why_not_int16_layer(l, c, DType::s8)) return *why;
  const PackedConv2dArgs a = args_of(l, c.in[kImage].quant);
  if (const char* why = why_not_packed_conv2d(a, Packing::mve_4x16))
    return Refusal{fmt::format("a convolution with an int16 result {}", why), "", "",
                   "int16.packing"};
  const std::span<const int8_t> weights = c.data[kFilters]->as<int8_t>();
  const Result<FilterNumbers> numbers = filter_numbers(l, c, weights);
  if (!numbers) return numbers.why;
  std::vector<int8_t> packed(
      static_cast<size_t>(packed_bytes(Packing::mve_4x16, a.out_c, a.length())));
  const auto weight = [&](i32 filter, i32 e) {  // by columns of taps
    const i32 tap = e / a.in_c, kh = tap % a.kernel_h, kw = tap / a.kernel_h;
    return weights[static_cast<size_t>(i64{filter} * a.length() + (kh * a.kernel_w + kw) * a.in_c +
                                       e % a.in_c)];
  };
  pack_weights<Packing::mve_4x16>(a.out_c, a.length(), numbers->first.data(),
                                  numbers->multiplier.data(), nullptr, weight, packed.data());
  const StepRange range = step_range(l.bounds, c.out[0].quant);
  CallBuilder call("deuteron::conv2d_s8_s16", c.in.size(), 1);
  const Shape shape{static_cast<i64>(packed.size())};
  call.in(kImage, channels_last_face(l.x))
      .constant(DType::s8, shape, std::move(packed))
      .integers({l.weight[1], l.weight[2]});
  call.integers({l.stride.h, l.stride.w})
      .integers({l.pad.h, l.pad.w})
      .integers({l.dilation.h, l.dilation.w});
  call.integer(a.x_zero).integer(numbers->shift).integer(range.low).integer(range.high);
  call.scratch(packed_conv2d_scratch_bytes(a, Packing::mve_4x16)).out(0, channels_last_face(l.y));
  return call.done();
}

}  // namespace deuteron

// SPDX-License-Identifier: Apache-2.0
// Convolutions and linear layers on int16: packed weights, and the proof that no sum leaves int32.
#include "ops/conv2d/layer_s16.h"

#include <fmt/format.h>

#include <cmath>

#include "kernels/conv2d/s16/kernel.h"
#include "kernels/image/window.h"
#include "ops/common/bounds.h"
#include "ops/common/int16.h"
#include "ops/common/multiplier.h"
#include "ops/common/sum_range.h"
#include "ops/conv2d/layer_s8_s16.h"

namespace deuteron {

enum { kX, kWeight, kBias };

static std::string what_it_is(const Type& type, const Constant* data) {
  return fmt::format("{} {}", data ? "a constant of" : "computed,", name_of(type.dtype));
}

std::optional<Refusal> why_not_int16_layer(const Int16Layer& l, const LowerContext& c,
                                           DType wanted) {
  const Type &x = c.in[kX], &weight = c.in[kWeight], &y = c.out[0];
  if (auto why = require_int16(y)) return why;
  if (auto why = require_int16(x);
      why && (x.dtype != DType::s8 || x.quant.empty() || x.quant.per_channel()))
    return why;
  if (weight.dtype != wanted || weight.quant.empty() || !c.data[kWeight])
    return Refusal{
        fmt::format("the weight must be a constant of {}", wanted == DType::s16 ? "int16" : "int8"),
        what_it_is(weight, c.data[kWeight]), fmt::format("a constant of {}", name_of(wanted)),
        "int16.weight"};
  if (c.in.size() > 2 && (c.in[kBias].dtype != DType::s32 || !c.data[kBias]))
    return Refusal{"the bias must be a constant of int32", what_it_is(c.in[kBias], c.data[kBias]),
                   "a constant of s32", "int16.bias"};
  if (l.groups != 1 && !l.is_depthwise())
    return Refusal{"groups of a convolution that is not one filter for each channel",
                   std::to_string(l.groups), "1", "int16.groups"};
  if (l.length() + l.weight[2] > kS16MostLength)  // a column of taps may be filled up by one
    return Refusal{"elements of a filter", std::to_string(l.length()),
                   std::to_string(kS16MostLength - l.weight[2]), "int16.length"};
  for (const i64 v : {l.x[1], l.x[2], l.y[1], l.y[2], l.stride.h, l.stride.w, l.pad.h, l.pad.w,
                      l.dilation.h, l.dilation.w})
    if (v > kMaxReach)
      return Refusal{"an extent", std::to_string(v), std::to_string(kMaxReach), "int16.window"};
  const auto why = [&](size_t axis, i64 stride, i64 pad, i64 dilation) {
    return why_not_window(static_cast<i32>(l.x[axis]), static_cast<i32>(l.y[axis]),
                          static_cast<i32>(l.weight[axis]), static_cast<i32>(stride),
                          static_cast<i32>(pad), static_cast<i32>(dilation));
  };
  for (const char* fault :
       {why(1, l.stride.h, l.pad.h, l.dilation.h), why(2, l.stride.w, l.pad.w, l.dilation.w)})
    if (fault) return Refusal{fmt::format("the image {}", fault), "", "", "int16.window"};
  const auto steps = [](i64 count, i64 between, i64 step) {
    auto narrow = static_cast<i32>(step);
    return why_not_steps(static_cast<i32>(count), between, &narrow);
  };
  const i64 row = l.x[2] * l.x[3];
  for (const char* fault : {steps(l.y[1], row, l.stride.h), steps(l.weight[1], row, l.dilation.h),
                            steps(l.y[2], l.weight[1] * l.x[3] + 1, l.stride.w),
                            steps(l.weight[2], l.x[3], l.dilation.w)})
    if (fault) return Refusal{fmt::format("the image {}", fault), "", "", "int16.window"};
  return std::nullopt;
}

double int16_factor(const LowerContext& c, i64 filter) {
  return channel_factor(c.in[kX].quant, c.in[kWeight].quant, c.out[0].quant, filter);
}

namespace {

// What there is for each filter.
struct Numbers {
  std::span<const int16_t> weights;
  std::vector<i32> first, multiplier;
  std::span<const int16_t> filter(i64 o, i64 length) const {
    return weights.subspan(static_cast<size_t>(o * length), static_cast<size_t>(length));
  }
};

Result<Numbers> numbers_of(const Int16Layer& l, const LowerContext& c) {
  const Quant& x = c.in[kX].quant;
  Numbers n{c.data[kWeight]->as<int16_t>(), std::vector<i32>(static_cast<size_t>(l.filters())), {}};
  if (c.in.size() > 2) {
    const std::span<const i32> bias = c.data[kBias]->as<i32>();
    n.first.assign(bias.begin(), bias.end());
  }
  for (i64 o = 0; o < l.filters(); ++o) {
    const SumRange sum = sum_range(n.filter(o, l.length()), x, n.first[o]);
    if (!fits_int32(sum))
      return Refusal{fmt::format("the sums of filter {} leave int32", o),
                     fmt::format("{}..{}", sum.low, sum.high),
                     fmt::format("{}..{}", INT32_MIN, INT32_MAX), "int16.sums"};
    const double factor = int16_factor(c, o);
    const double value = std::nearbyint(factor * 0x1p31);
    if (!(value <= INT32_MAX))
      return Refusal{"the result's scale is too fine for the products", fmt::format("{:g}", factor),
                     "less than 1", "int16.scale"};
    n.multiplier.push_back(static_cast<i32>(value));
  }
  return n;
}

Conv2dS16Args args_of(const Int16Layer& l) {
  const auto i = [](i64 v) { return static_cast<i32>(v); };
  return {i(l.x[0]),
          i(l.x[1]),
          i(l.x[2]),
          i(l.x[3]),
          i(l.y[1]),
          i(l.y[2]),
          i(l.y[3]),
          i(l.weight[1]),
          i(l.weight[2]),
          i(l.stride.h),
          i(l.stride.w),
          i(l.pad.h),
          i(l.pad.w),
          i(l.dilation.h),
          i(l.dilation.w),
          0,
          0};
}

// kernel.h of conv2d_s16 says how.
std::vector<int8_t> packed(const Int16Layer& l, const Numbers& n) {
  const Conv2dS16Args args = args_of(l);
  const i32 length = args.length(), filters = static_cast<i32>(l.filters());
  std::vector<int8_t> bytes(static_cast<size_t>(packed_s16_bytes(filters, length)));
  int8_t* tile = bytes.data();
  for (i32 t = 0; t < packed_tiles(filters); ++t, tile += packed_s16_tile_bytes(length)) {
    int8_t* const numbers = tile + packed_s16_tile_bytes(length) - kTileNumbers;
    for (i32 i = 0; i < kPackedTile && first_of_tile(filters, t) + i < filters; ++i) {
      const i64 o = first_of_tile(filters, t) + i;
      const std::span<const int16_t> filter = n.filter(o, l.length());
      for (i64 kh = 0; kh < l.weight[1]; ++kh)
        for (i64 kw = 0; kw < l.weight[2]; ++kw)
          for (i64 c = 0; c < l.weight[3]; ++c) {
            const i64 e = kw * args.column() + kh * l.weight[3] + c;
            std::memcpy(tile + ((e / kS16Block * kPackedTile + i) * kS16Block + e % kS16Block) * 2,
                        &filter[static_cast<size_t>((kh * l.weight[2] + kw) * l.weight[3] + c)], 2);
          }
      std::memcpy(numbers + i * 4, &n.first[o], 4);
      std::memcpy(numbers + (kPackedTile + i) * 4, &n.multiplier[o], 4);
    }
  }
  return bytes;
}

}  // namespace

Result<Lowered> lower_int16_layer(const Int16Layer& l, const LowerContext& c) {
  const bool depthwise = l.is_depthwise(), narrow = c.in[kX].dtype == DType::s8;
  if (narrow && !depthwise) return lower_int16_result(l, c);
  if (auto why = why_not_int16_layer(l, c, DType::s16)) return *why;
  const Result<Numbers> numbers = numbers_of(l, c);
  if (!numbers) return numbers.why;
  const StepRange range = step_range(l.bounds, c.out[0].quant);
  CallBuilder call(narrow      ? "deuteron::depthwise_conv2d_s8_s16"
                   : depthwise ? "deuteron::depthwise_conv2d_s16"
                               : "deuteron::conv2d_s16",
                   c.in.size(), 1);
  call.in(kX, channels_last_face(l.x));
  if (depthwise) {
    const i64 taps = l.length(), channels = l.filters();
    std::vector<int16_t> turned(numbers->weights.size());  // [kh,kw,c]
    for (i64 o = 0; o < channels; ++o)
      for (i64 t = 0; t < taps; ++t)
        turned[static_cast<size_t>(t * channels + o)] =
            numbers->weights[static_cast<size_t>(o * taps + t)];
    call.constant(DType::s16, {l.weight[1], l.weight[2], channels}, std::move(turned));
    call.constant(DType::s32, {channels}, numbers->first)
        .constant(DType::s32, {channels}, numbers->multiplier);
  } else {
    std::vector<int8_t> bytes = packed(l, *numbers);
    const Shape shape{static_cast<i64>(bytes.size())};
    call.constant(DType::s8, shape, std::move(bytes)).integers({l.weight[1], l.weight[2]});
  }
  call.integers({l.stride.h, l.stride.w})
      .integers({l.pad.h, l.pad.w})
      .integers({l.dilation.h, l.dilation.w});
  call.integer(range.low).integer(range.high);
  if (narrow) call.integer(c.in[kX].quant.zero_point[0]);
  if (!depthwise) call.scratch(conv2d_s16_scratch_bytes(args_of(l)));
  call.out(0, channels_last_face(l.y));
  return call.done();
}

}  // namespace deuteron

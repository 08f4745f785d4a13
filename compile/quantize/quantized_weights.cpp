// SPDX-License-Identifier: Apache-2.0
#include "compile/quantize/quantized_weights.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "ops/families.h"

namespace deuteron {

// The largest bias in steps: half of int32 is left for the sum of products, which at 32768 taps of
// 255 * 127 takes the other half.
static constexpr double kMostBias = 1 << 30;

Constant to_integers(std::span<const float> data, const Shape& shape, const Quant& q, DType dtype) {
  const i64 channels = q.per_channel() ? shape[q.axis] : 1;
  const i64 inner = q.per_channel()
                        ? numel(std::span(shape).subspan(static_cast<size_t>(q.axis) + 1))
                        : static_cast<i64>(data.size());
  const auto convert = [&]<class T>(T) {
    std::vector<T> steps(data.size());
    for (size_t begin = 0, c = 0; begin < data.size();
         begin += static_cast<size_t>(inner), c = (c + 1) % static_cast<size_t>(channels))
      for (size_t i = begin; i < begin + static_cast<size_t>(inner); ++i)
        steps[i] =
            static_cast<T>(quantize_value(data[i], q.scale[c], q.zero_point[c], q.low, q.high));
    return constant_of(std::move(steps));
  };
  return dtype == DType::s32   ? convert(i32{})
         : dtype == DType::s16 ? convert(int16_t{})
                               : convert(int8_t{});
}

void make_room_for_bias(Quant& weight, float x_scale, std::span<const float> bias) {
  for (size_t c = 0; c < bias.size(); ++c) {
    float& scale = weight.scale[weight.per_channel() ? c : 0];
    const double least =
        std::fabs(static_cast<double>(bias[c])) / (static_cast<double>(x_scale) * kMostBias);
    if (scale < least)
      scale = std::nextafter(static_cast<float>(least), std::numeric_limits<float>::infinity());
  }
}

Quant bias_quant(float x_scale, const Quant& weight) {
  Quant q;
  q.axis = weight.per_channel() ? 0 : -1;
  q.low = std::numeric_limits<i32>::min(), q.high = std::numeric_limits<i32>::max();
  for (const float w : weight.scale) q.scale.push_back(x_scale * w), q.zero_point.push_back(0);
  return q;
}

// For each position of the window along one axis: the share of outputs for which it lies inside the
// image.
static std::vector<double> share_inside(i64 extent, i64 window, i64 stride, i64 dilation,
                                        i64 before, i64 outputs) {
  std::vector<double> share(static_cast<size_t>(window));
  for (i64 k = 0; k < window; ++k) {
    i64 inside = 0;
    for (i64 o = 0; o < outputs; ++o) {
      const i64 at = o * stride - before + k * dilation;
      inside += at >= 0 && at < extent;
    }
    share[k] = outputs > 0 ? static_cast<double>(inside) / static_cast<double>(outputs) : 0.0;
  }
  return share;
}

std::vector<float> mean_loss(const Op& op, const Type& x, const Type& weight, const Type& y,
                             std::span<const float> data, const Constant& rounded,
                             const Quant& quant, std::span<const float> channel_mean) {
  const bool is_wide = rounded.bytes.size() == 2 * data.size();  // int16
  const auto steps = [&](i64 at) {
    return is_wide ? i32{rounded.as<int16_t>()[at]} : i32{rounded.as<int8_t>()[at]};
  };
  const i64 channels = weight.shape[0], inputs = weight.shape.back(),
            taps = channels * inputs > 0 ? weight.elements() / channels / inputs : 0;
  const i64 groups = inputs > 0 ? x.shape.back() / inputs : 1;
  // Without windows every pixel meets every tap once, but for those that fall into the padding.
  const auto pixels = [](const Type& t) {
    return static_cast<double>(t.elements() / std::max<i64>(1, t.shape.back()));
  };
  std::vector<double> share(static_cast<size_t>(taps), pixels(x) / std::max(1.0, pixels(y)));
  const Type* const types[] = {&x, &weight};
  if (const std::optional<ImageWindow> window = window_of(op, TypeView(types))) {
    const auto shares = [&](const AxisWindow& w, size_t axis) {
      return share_inside(x.shape[axis], w.kernel, w.stride, w.dilation, w.pad, y.shape[axis]);
    };
    const std::vector<double> rows = shares(window->rows, 1), columns = shares(window->columns, 2);
    const i64 kw = window->columns.kernel;
    for (i64 t = 0; t < taps; ++t) share[t] = rows[t / kw] * columns[t % kw];
  }
  std::vector<float> loss(static_cast<size_t>(channels));
  for (i64 o = 0; o < channels; ++o) {
    const i64 first = o / (channels / groups) * inputs;
    const double scale = quant.scale[quant.per_channel() ? o : 0];
    double sum = 0;
    for (i64 t = 0; t < taps; ++t)
      for (i64 i = 0; i < inputs; ++i) {
        const i64 at = (o * taps + t) * inputs + i;
        sum += (data[at] - scale * steps(at)) * share[t] * channel_mean[first + i];
      }
    loss[o] = static_cast<float>(sum);
  }
  return loss;
}

}  // namespace deuteron

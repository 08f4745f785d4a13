// SPDX-License-Identifier: Apache-2.0
// A product and a sum for each channel as a depthwise convolution, whose multipliers are exact for
// each.
#pragma once
#include "ops/all.h"
#include "ops/quantize/rounded.h"

namespace deuteron {

// One image of the elements of x, with c channels: the depthwise kernels take no more.
inline Shape image_of_channels(const Type& x, i64 channels) {
  const Shape& shape = x.shape;
  return shape.size() == 4 ? Shape{1, shape[0] * shape[1], shape[2], channels}
                           : Shape{1, x.elements() / channels, 1, channels};
}

// x [..,c] * weight[c] + bias[c]; no bias: without a sum. The result has the type of x. `b` adds
// operators one by one: a FormBuilder or a PatchBuilder.
ValueId add_depthwise(auto& b, ValueId x, std::vector<float> weight, std::vector<float> bias,
                      const std::string& name = {}) {
  const Shape shape = b.type(x).shape;
  const auto channels = static_cast<i64>(weight.size());
  const Shape image = image_of_channels(b.type(x), channels);
  if (image != shape) x = b.add(Reshape{image}, {x});
  Conv2d conv;
  conv.groups = channels;
  std::vector<ValueId> inputs{x, b.constant(DType::f32, {channels, 1, 1, 1}, std::move(weight),
                                            name.empty() ? name : name + ".weight")};
  if (!bias.empty())
    inputs.push_back(
        b.constant(DType::f32, {channels}, std::move(bias), name.empty() ? name : name + ".bias"));
  const ValueId y = b.add(conv, std::move(inputs));
  return image == shape ? y : b.add(Reshape{shape}, {y});
}

// The same between rounded values, to the parameters `y`. The weights are exact: each channel's
// scale is its own.
ValueId add_rounded_depthwise(auto& b, ValueId x, const std::vector<float>& weight,
                              std::vector<float> bias, const Quant& y, const std::string& name) {
  const Shape shape = b.type(x).shape;
  const auto channels = static_cast<i64>(weight.size());
  Quant quant;
  quant.axis = 0;
  std::vector<int8_t> steps;
  for (const float w : weight) {
    quant.scale.push_back(w == 0 ? 1.0f : std::abs(w) / 127);
    quant.zero_point.push_back(0);
    steps.push_back(static_cast<int8_t>(w == 0 ? 0 : w > 0 ? 127 : -127));
  }
  const ValueId w = b.constant(Type{DType::s8, {channels, 1, 1, 1}, quant},
                               constant_of(std::move(steps)), name + ".weight");
  Conv2d conv;
  conv.groups = channels;
  std::vector<ValueId> inputs{b.add(Reshape{image_of_channels(b.type(x), channels)}, {x}),
                              dequantized_float(b, w)};
  if (!bias.empty())
    inputs.push_back(b.constant(DType::f32, {channels}, std::move(bias), name + ".bias"));
  return b.add(Reshape{shape}, {rounded(b, b.add(conv, std::move(inputs)), y)});
}

}  // namespace deuteron

// A product and a sum for each channel as a depthwise convolution, whose multipliers are exact for each.
#pragma once
#include "ops/all.h"

namespace deuteron {

// x [..,c] * weight[c] + bias[c]; no bias: without a sum. The result has the type of x. `b` adds operators one by one: a FormBuilder or a
// PatchBuilder.
ValueId add_depthwise(auto& b, ValueId x, std::vector<float> weight, std::vector<float> bias, const std::string& name = {}) {
  const Shape shape = b.type(x).shape;
  const auto channels = static_cast<i64>(weight.size());
  // One image: the depthwise kernels take no more.
  const Shape image =
      shape.size() == 4 ? Shape{1, shape[0] * shape[1], shape[2], channels} : Shape{1, b.type(x).elements() / channels, 1, channels};
  if (image != shape) x = b.add(Reshape{image}, {x});
  Conv2d conv;
  conv.groups = channels;
  std::vector<ValueId> inputs{x, b.constant(DType::f32, {channels, 1, 1, 1}, std::move(weight), name.empty() ? name : name + ".weight")};
  if (!bias.empty()) inputs.push_back(b.constant(DType::f32, {channels}, std::move(bias), name.empty() ? name : name + ".bias"));
  const ValueId y = b.add(conv, std::move(inputs));
  return image == shape ? y : b.add(Reshape{shape}, {y});
}

}  // namespace deuteron

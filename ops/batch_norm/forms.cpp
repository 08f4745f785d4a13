// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "ops/batch_norm/channel_line.h"
#include "ops/conv2d/add_depthwise.h"
#include "ops/form.h"

namespace deuteron {

ChannelLine line_of(const BatchNorm& a, std::span<const float> weight, std::span<const float> bias,
                    std::span<const float> mean, std::span<const float> variance) {
  const double epsilon = a.epsilon;
  ChannelLine line;
  for (size_t c = 0; c < weight.size(); ++c) {
    line.slope.push_back(weight[c] / std::sqrt(variance[c] + epsilon));
    line.offset.push_back(bias[c] - mean[c] * line.slope[c]);
  }
  return line;
}

// batch_norm with nothing to fold into   becomes   a depthwise 1x1 convolution
static bool batch_norm_to_depthwise(const BatchNorm& a, FormBuilder& b) {
  if (b.type(0).dtype != DType::f32) return false;
  for (ValueId k = 1; k < 5; ++k)
    if (!b.data(k) || b.type(k).dtype != DType::f32) return false;
  const auto floats = [&](ValueId k) { return b.data(k)->as<float>(); };
  const ChannelLine line = line_of(a, floats(1), floats(2), floats(3), floats(4));
  return b.finish(add_depthwise(b, 0, {line.slope.begin(), line.slope.end()},
                                {line.offset.begin(), line.offset.end()}));
}

bool simpler_form(const BatchNorm& a, FormBuilder& b) { return batch_norm_to_depthwise(a, b); }

}  // namespace deuteron

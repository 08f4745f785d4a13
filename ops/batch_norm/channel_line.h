// SPDX-License-Identifier: Apache-2.0
// y = slope * x + offset: one element each, or one for each channel.
#pragma once
#include <span>
#include <vector>

namespace deuteron {

struct ChannelLine {
  std::vector<double> slope, offset;
};

struct BatchNorm;
// With these statistics: slope[c] = weight / sqrt(variance + epsilon), offset[c] = bias - mean *
// slope.
ChannelLine line_of(const BatchNorm&, std::span<const float> weight, std::span<const float> bias,
                    std::span<const float> mean, std::span<const float> variance);

}  // namespace deuteron

// SPDX-License-Identifier: Apache-2.0
#include "compile/quantize/int16_weights.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "compile/calibrate/calibrate.h"

namespace deuteron {

Quant int16_weight_quant(std::span<const float> weight, const Shape& shape, const Quant& x,
                         std::span<const float> bias) {
  constexpr double kMostBias = 1 << 30;  // beyond it quantize_value() saturates
  // of scales, which are float32: a part in 2^23 of the largest sum is 2^8
  constexpr double kRoundings = 1 << 16;
  const size_t filters = static_cast<size_t>(shape[0]),
               length = filters > 0 ? weight.size() / filters : 0;
  const double high = x.high - x.zero_point[0],
               low = x.zero_point[0] - x.low;  // both ends as distances from zero
  // Each weight may be rounded up by half a step, and the mean of that may be taken out of the
  // bias.
  const double room = std::numeric_limits<i32>::max() - kRoundings -
                      static_cast<double>(length) * std::max(high, low);
  Quant q;
  q.axis = 0;
  q.low = -32767, q.high = 32767;
  for (size_t o = 0; o < filters; ++o) {
    double up = 0, down = 0, most = 0;
    for (const float w : weight.subspan(o * length, length)) {
      (w > 0 ? up : down) += std::abs(static_cast<double>(w));
      most = std::max(most, std::abs(static_cast<double>(w)));
    }
    const double own = bias.empty() ? 0 : std::abs(static_cast<double>(bias[o])) / x.scale[0];
    const double sum = std::max(high * up + low * down, high * down + low * up) + own;
    const double scale = std::max({most / q.high, sum / std::max(room, 1.0), own / kMostBias,
                                   static_cast<double>(kLeastScale)});
    q.scale.push_back(
        std::nextafter(static_cast<float>(scale), std::numeric_limits<float>::infinity()));
    q.zero_point.push_back(0);
  }
  return q;
}

}  // namespace deuteron

// SPDX-License-Identifier: Apache-2.0
// Float execution of BatchNorm.
#include <cmath>
#include <vector>

#include "ops/batch_norm/batch_norm.h"
#include "ops/op.h"

namespace deuteron {

void execute(const BatchNorm& a, std::span<const HostTensor> in, std::span<const HostTensor> out) {
  const float *x = in[0].data, *weight = in[1].data, *bias = in[2].data, *mean = in[3].data,
              *variance = in[4].data;
  const i64 channels = in[1].type->elements(), total = out[0].type->elements();
  std::vector<float> slope(static_cast<size_t>(channels)), offset(slope.size());
  for (size_t c = 0; c < slope.size(); ++c) {
    slope[c] = weight[c] * (1.0f / std::sqrt(variance[c] + a.epsilon));
    offset[c] = bias[c] - mean[c] * slope[c];
  }
  for (i64 i = 0; i < total; i += channels)
    for (i64 c = 0; c < channels; ++c) out[0].data[i + c] = x[i + c] * slope[c] + offset[c];
}

}  // namespace deuteron

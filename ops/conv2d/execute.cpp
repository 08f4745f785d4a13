// SPDX-License-Identifier: Apache-2.0
// Float execution of Conv2d.
#include "ops/common/dnn.h"
#include "ops/conv2d/conv2d.h"
#include "ops/op.h"

namespace deuteron {

void execute(const Conv2d& a, std::span<const HostTensor> in, std::span<const HostTensor> out) {
  const float* bias = in.size() > 2 ? in[2].data : nullptr;
  PreparedLayer(a, in[0].type->shape, in[1].type->shape, out[0].type->shape, in[1].data, bias)
      .run(in[0].data, out[0].data);
}

}  // namespace deuteron

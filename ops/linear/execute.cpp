// SPDX-License-Identifier: Apache-2.0
// Float execution of Linear.
#include "ops/common/dnn.h"
#include "ops/linear/linear.h"
#include "ops/op.h"

namespace deuteron {

void execute(const Linear& a, std::span<const HostTensor> in, std::span<const HostTensor> out) {
  const float* bias = in.size() > 2 ? in[2].data : nullptr;
  PreparedLayer(a, in[0].type->shape, in[1].type->shape, in[1].data, bias)
      .run(in[0].data, out[0].data);
}

}  // namespace deuteron

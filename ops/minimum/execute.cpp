// SPDX-License-Identifier: Apache-2.0
// Float execution of Minimum; a NaN stays, as in torch.
#include "ops/common/elementwise.h"
#include "ops/minimum/minimum.h"

namespace deuteron {

void execute(const Minimum&, std::span<const HostTensor> in, std::span<const HostTensor> out) {
  for_each_broadcast(in[0], in[1], out[0],
                     [](float x, float y) { return x < y || x != x ? x : y; });
}

}  // namespace deuteron

// SPDX-License-Identifier: Apache-2.0
// Float execution of Mul.
#include "ops/common/elementwise.h"
#include "ops/mul/mul.h"
#include "ops/op.h"

namespace deuteron {

void execute(const Mul&, std::span<const HostTensor> in, std::span<const HostTensor> out) {
  for_each_broadcast(in[0], in[1], out[0], [](auto x, auto y) { return x * y; });
}

}  // namespace deuteron

// SPDX-License-Identifier: Apache-2.0
// Float execution of Clamp.
#include "ops/clamp/clamp.h"
#include "ops/common/elementwise.h"
#include "ops/op.h"

namespace deuteron {

void execute(const Clamp& a, std::span<const HostTensor> in, std::span<const HostTensor> out) {
  apply_bounds(a.bounds, in[0].data, out[0].data, out[0].type->elements());
}

}  // namespace deuteron

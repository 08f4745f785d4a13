// SPDX-License-Identifier: Apache-2.0
// Float execution of Pointwise.
#include "ops/op.h"
#include "ops/pointwise/pointwise.h"

namespace deuteron {

void execute(const Pointwise& a, std::span<const HostTensor> in, std::span<const HostTensor> out) {
  const i64 total = out[0].type->elements();
  for (i64 i = 0; i < total; ++i) out[0].data[i] = evaluate(a.program, in[0].data[i]);
}

}  // namespace deuteron

// SPDX-License-Identifier: Apache-2.0
// Float execution of Unary.
#include "ops/op.h"
#include "ops/unary/unary.h"

namespace deuteron {

void execute(const Unary& a, std::span<const HostTensor> in, std::span<const HostTensor> out) {
  const i64 total = out[0].type->elements();
  for (i64 i = 0; i < total; ++i) out[0].data[i] = evaluate(a.fn, in[0].data[i], a.alpha);
}

}  // namespace deuteron

// SPDX-License-Identifier: Apache-2.0
// Float execution of Add.
#include "ops/add/add.h"
#include "ops/common/elementwise.h"
#include "ops/op.h"

namespace deuteron {

void execute(const Add& a, std::span<const HostTensor> in, std::span<const HostTensor> out) {
  if (a.alpha == 1) for_each_broadcast(in[0], in[1], out[0], [](auto x, auto y) { return x + y; });
  else for_each_broadcast(in[0], in[1], out[0], [&](auto x, auto y) { return x + a.alpha * y; });
  apply_bounds(a.bounds, {out[0].data, static_cast<size_t>(out[0].type->elements())});
}

}  // namespace deuteron

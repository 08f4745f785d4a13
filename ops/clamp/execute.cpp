// Float execution of Clamp.
#include "ops/elementwise.h"
#include "ops/clamp/clamp.h"
#include "ops/op.h"

namespace deuteron {

void execute(const Clamp& a, std::span<const HostTensor> in, std::span<const HostTensor> out) {
  const i64 total = out[0].type->elements();
  for (i64 i = 0; i < total; ++i) out[0].data[i] = bounded(a.bounds, in[0].data[i]);
}

}  // namespace deuteron

// SPDX-License-Identifier: Apache-2.0
// Float execution of Prelu.
#include "ops/op.h"
#include "ops/prelu/prelu.h"

namespace deuteron {

void execute(const Prelu&, std::span<const HostTensor> in, std::span<const HostTensor> out) {
  const auto slopes = static_cast<size_t>(in[1].type->elements());
  const auto count = static_cast<size_t>(in[0].type->elements());
  for (size_t i = 0; i < count; ++i) {
    const float x = in[0].data[i];
    out[0].data[i] = x < 0 ? x * in[1].data[i % slopes] : x;
  }
}

}  // namespace deuteron

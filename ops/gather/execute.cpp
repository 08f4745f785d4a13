// SPDX-License-Identifier: Apache-2.0
// Float execution of Gather.
#include <algorithm>

#include "ops/gather/gather.h"
#include "ops/op.h"

namespace deuteron {

void execute(const Gather& a, std::span<const HostTensor> in, std::span<const HostTensor> out) {
  const Shape& x = in[0].type->shape;
  const auto axis = static_cast<size_t>(a.axis);
  const i64 outer = numel(std::span(x).first(axis)), inner = numel(std::span(x).subspan(axis + 1));
  float* to = out[0].data;
  for (i64 o = 0; o < outer; ++o)
    for (const i64 k : a.index) to = std::copy_n(in[0].data + (o * x[axis] + k) * inner, inner, to);
}

}  // namespace deuteron

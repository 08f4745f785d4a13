// SPDX-License-Identifier: Apache-2.0
// Float execution of Slice.
#include <algorithm>

#include "ops/op.h"
#include "ops/slice/slice.h"

namespace deuteron {

void execute(const Slice& a, std::span<const HostTensor> in, std::span<const HostTensor> out) {
  const Shape& x = in[0].type->shape;
  const auto axis = static_cast<size_t>(a.axis);
  const i64 outer = numel(std::span(x).first(axis)), inner = numel(std::span(x).subspan(axis + 1));
  float* to = out[0].data;
  for (i64 o = 0; o < outer; ++o)
    for (i64 k = 0; k < a.count; ++k)
      to = std::copy_n(in[0].data + (o * x[axis] + a.start + k * a.step) * inner, inner, to);
}

}  // namespace deuteron

// SPDX-License-Identifier: Apache-2.0
// Float execution of Concat.
#include <algorithm>

#include "ops/concat/concat.h"
#include "ops/op.h"

namespace deuteron {

void execute(const Concat& a, std::span<const HostTensor> in, std::span<const HostTensor> out) {
  const Shape& y = out[0].type->shape;
  const auto axis = static_cast<size_t>(a.axis);
  const i64 outer = numel(std::span(y).first(axis)), inner = numel(std::span(y).subspan(axis + 1));
  float* to = out[0].data;
  for (i64 o = 0; o < outer; ++o)
    for (const HostTensor& x : in) {
      const i64 run = x.type->shape[axis] * inner;
      to = std::copy_n(x.data + o * run, run, to);
    }
}

}  // namespace deuteron

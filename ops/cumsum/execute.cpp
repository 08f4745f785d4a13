// SPDX-License-Identifier: Apache-2.0
// Float execution of Cumsum; sums in double.
#include "ops/cumsum/cumsum.h"
#include "ops/op.h"

namespace deuteron {

void execute(const Cumsum& a, std::span<const HostTensor> in, std::span<const HostTensor> out) {
  const Shape& shape = in[0].type->shape;
  i64 inner = 1;
  for (size_t k = static_cast<size_t>(a.axis) + 1; k < shape.size(); ++k) inner *= shape[k];
  const i64 length = shape[static_cast<size_t>(a.axis)], total = in[0].type->elements();
  for (i64 first = 0; first < total; first += length * inner)
    for (i64 line = first; line < first + inner; ++line) {
      double sum = 0;
      for (i64 i = line; i < line + length * inner; i += inner)
        out[0].data[i] = static_cast<float>(sum += in[0].data[i]);
    }
}

}  // namespace deuteron

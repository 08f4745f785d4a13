// SPDX-License-Identifier: Apache-2.0
// Float execution of Pad.
#include <algorithm>

#include "ops/op.h"
#include "ops/pad/pad.h"

namespace deuteron {

void execute(const Pad& a, std::span<const HostTensor> in, std::span<const HostTensor> out) {
  const Shape &x = in[0].type->shape, &y = out[0].type->shape;
  const size_t rank = y.size();
  const i64 total = out[0].type->elements();
  if (rank == 0) {
    std::copy_n(in[0].data, total, out[0].data);
    return;
  }
  const i64 inner = y[rank - 1], width = x[rank - 1], left = a.before[rank - 1];
  const i64 begin = std::clamp<i64>(left, 0, inner),
            end = std::clamp<i64>(left + width, begin, inner);
  Axes index(rank, 0);
  for (i64 at = 0; at < total; at += inner) {
    float* to = out[0].data + at;
    i64 from = 0;
    bool outside = false;
    for (size_t k = 0; k + 1 < rank; ++k) {
      const i64 i = index[k] - a.before[k];
      outside |= i < 0 || i >= x[k];
      from = from * x[k] + i;
    }
    if (outside) {
      std::fill_n(to, inner, a.value);
    } else {
      std::fill(to, to + begin, a.value);
      std::copy(in[0].data + from * width + (begin - left),
                in[0].data + from * width + (end - left), to + begin);
      std::fill(to + end, to + inner, a.value);
    }
    for (size_t k = rank - 1; k-- > 0 && ++index[k] == y[k];) index[k] = 0;
  }
}

}  // namespace deuteron

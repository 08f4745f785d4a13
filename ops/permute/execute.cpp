// SPDX-License-Identifier: Apache-2.0
// Float execution of Permute.
#include <algorithm>

#include "ops/op.h"
#include "ops/permute/permute.h"

namespace deuteron {

void execute(const Permute& a, std::span<const HostTensor> in, std::span<const HostTensor> out) {
  const Shape &x = in[0].type->shape, &y = out[0].type->shape;
  const size_t rank = y.size();
  const i64 total = out[0].type->elements();
  if (rank == 0 || total == 0) {
    std::copy_n(in[0].data, total, out[0].data);
    return;
  }
  Axes stride(rank, 1), step(rank);
  for (size_t k = rank - 1; k-- > 0;) stride[k] = stride[k + 1] * x[k + 1];
  for (size_t k = 0; k < rank; ++k) step[k] = stride[a.perm[k]];
  const i64 inner = y[rank - 1], inner_step = step[rank - 1];
  Axes index(rank, 0);
  const float* from = in[0].data;
  for (i64 at = 0; at < total; at += inner) {
    for (i64 i = 0; i < inner; ++i) out[0].data[at + i] = from[i * inner_step];
    for (size_t k = rank - 1; k-- > 0;) {
      from += step[k];
      if (++index[k] < y[k]) break;
      from -= step[k] * y[k];
      index[k] = 0;
    }
  }
}

}  // namespace deuteron

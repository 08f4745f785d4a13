// SPDX-License-Identifier: Apache-2.0
// cortex_m::transpose: its arguments checked once, at load. Input and output may be stored in any
// order; the permutation is of the logical dimensions. (The stock kernel takes both for dense, and
// turns every tensor of rank 2.)
#include "kernels/common/kernels.h"
#include "kernels/common/prepare.h"
#include "kernels/permute/kernel.h"

namespace deuteron {

DEUTERON_FIELDS(PermuteArgs, extent, step)

namespace {

enum { kX, kPerm, kOut };

Status prepare(Call& call, Prepared* prepared) {
  const Tensor &x = call.tensor(kX), &y = call.tensor(kOut);
  if (x.type != ScalarType::s8 || x.rank < 1 || x.rank > 4)
    return bad_argument(kX, "must be int8 and have one to four dimensions");
  if (y.type != ScalarType::s8 || y.rank != x.rank)
    return bad_argument(kOut, "must be int8 and have the rank of the input");
  if (call.list(kPerm).count != x.rank)
    return bad_argument(kPerm, "must have an entry for each dimension");
  int perm[4];
  bool seen[4] = {};
  for (int k = 0; k < x.rank; ++k) {
    if (!lies_in(call.list_integer(kPerm, k), 0, x.rank - 1))
      return bad_argument(kPerm, "has an entry that is no dimension");
    perm[k] = static_cast<int>(call.list_integer(kPerm, k));
    if (seen[perm[k]]) return bad_argument(kPerm, "has a dimension twice");
    seen[perm[k]] = true;
    if (y.sizes[k] != x.sizes[perm[k]])
      return bad_argument(kOut, "must have the permuted extents of the input");
  }
  if (y.numel == 0) return keep_nothing(prepared);
  int32_t stride[4], product = 1;  // of the input's dimensions
  for (int i = x.rank - 1; i >= 0; --i) {
    stride[x.dim_order[i]] = product;
    product *= x.sizes[x.dim_order[i]];
  }
  PermuteArgs a{{1, 1, 1, 1}, {}};
  // From the innermost dimension outwards; neighbours that are one run of memory in both become one
  // dimension.
  int at = 4;
  for (int i = y.rank - 1; i >= 0; --i) {
    const int dim = y.dim_order[i];
    if (y.sizes[dim] == 1) continue;
    if (at < 4 && stride[perm[dim]] == a.extent[at] * a.step[at]) {
      a.extent[at] *= y.sizes[dim];
      continue;
    }
    --at;
    a.extent[at] = y.sizes[dim];
    a.step[at] = stride[perm[dim]];
  }
  return keep_fastest<permute_s8, permute_s8_mve>(
      call, prepared, a, static_cast<const int8_t*>(x.data), static_cast<int8_t*>(y.data));
}

}  // namespace

const Kernel kTranspose = {"cortex_m::transpose.out", "TLO", prepare};

}  // namespace deuteron

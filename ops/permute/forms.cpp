// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <numeric>

#include "base/tensor/axes.h"
#include "ops/form.h"
#include "ops/permute/collapse.h"

namespace deuteron {

// permute over more axes than the kernel has   becomes   two: the first one as many as the kernel
// has, what is left is nearer to none
static bool split_permute(const Permute& a, FormBuilder& b) {
  const Type &x = b.type(0), &y = b.result();
  if (x.dtype != DType::s8) return false;
  const CollapsedPermute whole = collapse(x.shape, a.perm);
  const size_t rank = whole.shape.size();
  if (rank <= kKernelAxes || rank > 8) return false;
  Axes first(rank), best, rest;
  std::iota(first.begin(), first.end(), 0);
  size_t left = rank;
  while (std::next_permutation(first.begin(), first.end())) {
    if (collapse(whole.shape, first).shape.size() > kKernelAxes) continue;
    Axes second(rank);
    const Axes back = inverse(first);
    for (size_t k = 0; k < rank; ++k) second[k] = back[whole.perm[k]];
    if (const size_t axes = collapse(permuted(whole.shape, first), second).shape.size();
        axes < left)
      best = first, rest = second, left = axes;
  }
  if (best.empty()) return false;
  const ValueId flat = b.add(Reshape{whole.shape}, {0}, x.quant);
  const ValueId half = b.add(Permute{best}, {flat}, x.quant);
  const ValueId done = b.add(Permute{rest}, {half}, x.quant, b.result_name());
  return b.finish(Reshape{y.shape}, {done});
}

bool last_form(const Permute& a, FormBuilder& b) { return split_permute(a, b); }

}  // namespace deuteron

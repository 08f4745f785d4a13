// SPDX-License-Identifier: Apache-2.0
#include "ops/common/broadcast.h"
#include "ops/form.h"

namespace deuteron {

// expand that repeats nothing   becomes   nothing
static bool drop_expand_of_nothing(const Expand&, FormBuilder& b) {
  b.because("repeats nothing");
  return b.type(0) == b.result() && b.finish(0);
}

// expand that alternates too often between repeated and whole axes   becomes   two of them
static bool split_expand(const Expand& a, FormBuilder& b) {
  const Type& x = b.type(0);
  if (b.result().dtype != DType::s8) return false;
  const Shape& y = a.shape;
  Shape repeats = y;
  for (size_t k = 0; k < y.size(); ++k)
    if (x.shape[k] == y[k]) repeats[k] = 1;
  if (merged_axes(x.shape, repeats, y).y.size() <= kMostMergedAxes) return false;
  Shape first = y;  // all but the first repeated axis
  for (size_t k = 0; k < y.size(); ++k)
    if (repeats[k] != 1) {
      first[k] = 1;
      break;
    }
  return b.finish(Expand{y}, {b.add(Expand{first}, {0}, x.quant)});
}

bool kernel_form(const Expand& a, FormBuilder& b) {
  return split_expand(a, b) || drop_expand_of_nothing(a, b);
}

}  // namespace deuteron

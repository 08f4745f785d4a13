// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "ops/form.h"

namespace deuteron {

// pad with negative extents   becomes   slices, and a pad of what is left
static bool crop_to_slices(const Pad& a, FormBuilder& b) {
  const Type &x = b.type(0), &y = b.result();
  const auto negative = [](i64 v) { return v < 0; };
  if (std::none_of(a.before.begin(), a.before.end(), negative) &&
      std::none_of(a.after.begin(), a.after.end(), negative))
    return false;
  ValueId v = 0;
  Pad rest = a;
  for (size_t k = 0; k < rest.before.size(); ++k) {
    const i64 front = std::max<i64>(0, -rest.before[k]), back = std::max<i64>(0, -rest.after[k]);
    const i64 kept = x.shape[k] - front - back;
    if (kept < 1) return false;  // nothing of x is left: all padding
    if (front + back > 0) v = b.add(Slice{static_cast<i64>(k), front, kept, 1}, {v}, x.quant);
    rest.before[k] = std::max<i64>(0, rest.before[k]);
    rest.after[k] = std::max<i64>(0, rest.after[k]);
  }
  const auto zero = [](i64 e) { return e == 0; };
  if (std::all_of(rest.before.begin(), rest.before.end(), zero) &&
      std::all_of(rest.after.begin(), rest.after.end(), zero))
    return x.quant == y.quant && b.finish(v);
  return b.finish(rest, {v});
}

bool simpler_form(const Pad& a, FormBuilder& b) { return crop_to_slices(a, b); }

}  // namespace deuteron

// SPDX-License-Identifier: Apache-2.0
#include "ops/reduce/slices.h"

namespace deuteron {

Slices slices_of(const Shape& x, const Axes& axes) {
  Slices s;
  bool begun = false, ended = false;
  for (size_t k = 0; k < x.size(); ++k) {
    const bool reduced = std::find(axes.begin(), axes.end(), static_cast<i64>(k)) != axes.end();
    if (reduced) {
      if (ended && x[k] != 1) s.neighbours = false;
      begun = begun || x[k] != 1;
      s.slice *= x[k];
    } else if (x[k] != 1) {
      if (begun) ended = true;
      (begun ? s.inner : s.outer) *= x[k];
    }
  }
  return s;
}

Quant mirrored(Quant quant) {
  if (quant.empty()) return quant;
  for (i32& zero : quant.zero_point) zero = -1 - zero;
  std::swap(quant.low, quant.high);
  quant.low = -1 - quant.low, quant.high = -1 - quant.high;
  return quant;
}

}  // namespace deuteron

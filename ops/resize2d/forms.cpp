// SPDX-License-Identifier: Apache-2.0
#include "base/tensor/axes.h"
#include "ops/form.h"

namespace deuteron {

// nearest resize2d   becomes   gathers of rows and columns: copies, in any type
static bool nearest_to_gathers(const Resize2d& a, FormBuilder& b) {
  if (a.mode != Resize2d::kNearest) return false;
  const Type& x = b.type(0);
  if (x.quant != b.result().quant) return false;  // copies have the numbers that they copy
  b.because("resizes to the extents that it has");
  ValueId v = 0;
  Axes rows = nearest_sources(a, x.shape[1], a.size.h),
       columns = nearest_sources(a, x.shape[2], a.size.w);
  const bool moves_rows = !is_identity(rows) || a.size.h != x.shape[1];
  const bool moves_columns = !is_identity(columns) || a.size.w != x.shape[2];
  if (moves_rows) v = b.add(Gather{1, std::move(rows)}, {v}, x.quant);
  if (moves_columns) v = b.add(Gather{2, std::move(columns)}, {v}, x.quant);
  return b.finish(v);
}

bool kernel_form(const Resize2d& a, FormBuilder& b) { return nearest_to_gathers(a, b); }

}  // namespace deuteron

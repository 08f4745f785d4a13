// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "ops/affine/affine.h"
#include "ops/form.h"

namespace deuteron {

static bool is_all(const Constant* data, float v) {
  return data && std::ranges::all_of(data->as<float>(), [v](float x) { return x == v; });
}

// affine in float   becomes   (x + shift) * factor, for the portable kernels; of what changes
// nothing there is nothing left
static bool affine_in_parts(FormBuilder& b) {
  if (b.type(0).dtype != DType::f32 || b.result().dtype != DType::f32) return false;
  const Shape shape = b.type(0).shape,
              flat{b.type(0).elements() / b.type(2).elements(), b.type(2).elements()};
  const bool moves = !is_all(b.data(1), 0), scales = !is_all(b.data(2), 1);
  ValueId y = 0;
  if (moves || scales) {
    if (flat != shape) y = b.add(Reshape{flat}, {y});
    if (moves) y = b.add(Add{}, {y, 1});
    if (scales) y = b.add(Mul{}, {y, 2});
    if (flat != shape) y = b.add(Reshape{shape}, {y});
  } else {
    b.because("changes nothing");
  }
  return b.finish(y);
}

bool portable_form(const Affine&, FormBuilder& b) { return affine_in_parts(b); }

}  // namespace deuteron

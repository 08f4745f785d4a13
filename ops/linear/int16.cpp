// SPDX-License-Identifier: Apache-2.0
#include "ops/linear/int16.h"

#include "ops/conv2d/layer_s16.h"

namespace deuteron {

Result<Lowered> int16_form(const Linear& a, const LowerContext& c) {
  const Shape& w = c.in[1].shape;
  const i64 rows = c.in[0].elements() / w[1];
  return lower_int16_layer(
      {{1, rows, 1, w[1]}, {w[0], 1, 1, w[1]}, {1, rows, 1, w[0]}, {1, 1}, {}, {1, 1}, 1, a.bounds},
      c);
}

}  // namespace deuteron

// SPDX-License-Identifier: Apache-2.0
// As a table with straight lines between its entries.
#include "ops/pointwise/int16.h"

#include "ops/common/int16.h"
#include "ops/unary/table_s16.h"

namespace deuteron {

Result<Lowered> int16_form(const Pointwise& a, const LowerContext& c) {
  if (auto why = require_int16(c)) return *why;
  return lower_table_s16(c, "pointwise", [&](float v) { return evaluate(a.program, v); });
}

}  // namespace deuteron

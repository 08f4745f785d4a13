// SPDX-License-Identifier: Apache-2.0
#include "ops/common/int16.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace deuteron {

std::optional<Refusal> require_int16(const Type& t) {
  if (t.dtype == DType::s16 && !t.quant.empty() && !t.quant.per_channel() &&
      t.quant.zero_point[0] == 0)
    return std::nullopt;
  return Refusal{"an operand or the result is not int16 with one scale and zero point 0",
                 to_text(t), "s16 with scale and zero point 0", "int16.steps"};
}

std::optional<Int16Factor> int16_product_factor(double factor) {
  int exponent = 0;
  i64 value = std::llround(std::ldexp(std::frexp(factor, &exponent), 31));
  if (value > std::numeric_limits<i32>::max()) value /= 2, ++exponent;
  if (!(factor > 0) || exponent > 0 || exponent < -30) return std::nullopt;
  return Int16Factor{static_cast<i32>(value), -exponent};
}

}  // namespace deuteron

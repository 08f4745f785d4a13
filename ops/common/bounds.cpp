// SPDX-License-Identifier: Apache-2.0
#include "ops/common/bounds.h"

#include <algorithm>
#include <cmath>

namespace deuteron {

i32 bound_step(float bound, const Quant& quant, Rounding rounding) {
  if (rounding == Rounding::once)
    return quantize_value(bound, quant.scale[0], quant.zero_point[0], quant.low, quant.high);
  const double step = quant.zero_point[0] + static_cast<double>(std::round(bound / quant.scale[0]));
  return static_cast<i32>(std::clamp<double>(step, quant.low, quant.high));
}

StepRange step_range(const Bounds& bounds, const Quant& quant, Rounding rounding) {
  const auto step = [&](float bound, i32 otherwise) {
    return std::isinf(bound) ? otherwise : bound_step(bound, quant, rounding);
  };
  return {step(bounds.low, quant.low), step(bounds.high, quant.high)};
}

}  // namespace deuteron

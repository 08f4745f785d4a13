// SPDX-License-Identifier: Apache-2.0
// The bounds of a fused relu, relu6 or clamp as steps of the result.
#pragma once
#include "ops/attributes.h"
#include "ops/op.h"

namespace deuteron {

// once: quantized as PT2E quantizes a value. Else divided by the scale and rounded, ties away from
// zero, as TFLite's kernels prepare a fused activation.
i32 bound_step(float bound, const Quant& quant, Rounding rounding);

struct StepRange {
  i32 low, high;
  bool operator==(const StepRange&) const = default;
};
// A side without a bound has the end of quant's range.
StepRange step_range(const Bounds& bounds, const Quant& quant, Rounding rounding = Rounding::once);

// What a CPU's call has its bounds rounded as: only a model of TFLite's has them as TFLite.
inline Rounding of_bounds(Rounding rounding) {
  return is_reference(rounding) ? rounding : Rounding::once;
}

}  // namespace deuteron

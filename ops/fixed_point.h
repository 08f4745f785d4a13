// Real scales as the integers that kernels take. Formulas: docs/numerics.md, section 2.
#pragma once
#include <cmath>

#include "ops/attributes.h"
#include "ops/op.h"

namespace deuteron {

// scale ~= value * 2^(shift - 31)
struct Multiplier {
  i32 value = 0, shift = 0;
};

// frexp in double, mantissa rounded half to even, as the cortex_m dialect's own compiler does. A scale below 2^-32 rounds every accumulator
// to zero and becomes {0, 0}. `scale` is finite and below 2^30: multiplier_fits() says so first.
Multiplier multiplier_of(double scale);
inline bool multiplier_fits(double scale) { return std::isfinite(scale) && scale >= 0 && scale < 1073741824.0; }

// The range of q that `bounds` leaves, in steps of `quant`.
struct StepRange {
  i32 low, high;
};
StepRange step_range(const Bounds& bounds, const Quant& quant);

// The same scale with shift 0 where that keeps at least 19 bits of it (2^-12 <= scale < 1): then the shifts of all layers are one constant in the
// file, and the accumulator is rounded once.
Multiplier unshifted_multiplier_of(double scale);
inline Multiplier multiplier_of(double scale, Rounding rounding) {
  return rounding == Rounding::once ? unshifted_multiplier_of(scale) : multiplier_of(scale);
}

// One multiplier for each output channel of a convolution or linear layer: x.scale * weight.scale[c] / y.scale.
Result<std::vector<Multiplier>> channel_multipliers(const Quant& x, const Quant& weight, const Quant& y, i64 channels, Rounding rounding,
                                                    const char* rule);

// Refusals that many lowerings share; nothing when fine.
std::optional<Refusal> require_int8(const Type& t, const char* operand, const char* rule);
std::optional<Refusal> require_same_quant(const Type& a, const Type& b, const char* rule);

}  // namespace deuteron

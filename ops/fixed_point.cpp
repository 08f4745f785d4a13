#include "ops/fixed_point.h"

#include <fmt/format.h>

namespace deuteron {

Multiplier multiplier_of(double scale) {
  DEUTERON_CHECK(multiplier_fits(scale), fmt::format("{}", scale));
  if (scale == 0) return {};
  int exponent = 0;
  const double mantissa = std::frexp(scale, &exponent);
  i64 value = static_cast<i64>(std::nearbyint(mantissa * 2147483648.0));
  if (value == i64{1} << 31) {
    value /= 2;
    ++exponent;
  }
  if (exponent < -31) return {};
  return {static_cast<i32>(value), exponent};
}

Multiplier unshifted_multiplier_of(double scale) {
  constexpr double kSmallest = 1.0 / 4096, kOne = 2147483648.0;
  const double value = std::nearbyint(scale * kOne);
  if (scale < kSmallest || value >= kOne) return multiplier_of(scale);
  return {static_cast<i32>(value), 0};
}

StepRange step_range(const Bounds& bounds, const Quant& quant) {
  const auto steps = [&](float bound, i32 otherwise) {
    return std::isinf(bound) ? otherwise : quantize_value(bound, quant.scale[0], quant.zero_point[0], quant.low, quant.high);
  };
  return {steps(bounds.low, quant.low), steps(bounds.high, quant.high)};
}

Result<std::vector<Multiplier>> channel_multipliers(const Quant& x, const Quant& weight, const Quant& y, i64 channels, Rounding rounding,
                                                    const char* rule) {
  std::vector<Multiplier> result(static_cast<size_t>(channels));
  for (i64 c = 0; c < channels; ++c) {
    const double scale = static_cast<double>(x.scale[0]) * weight.scale[weight.per_channel() ? c : 0] / y.scale[0];
    if (!multiplier_fits(scale))
      return Refusal{"the ratio of scales of channel " + std::to_string(c) + " does not fit a multiplier", fmt::format("{:g}", scale),
                     "2^30", rule};
    result[c] = multiplier_of(scale, rounding);
  }
  return result;
}

std::optional<Refusal> require_int8(const Type& t, const char* operand, const char* rule) {
  if (t.dtype == DType::s8 && !t.quant.empty()) return std::nullopt;
  return Refusal{fmt::format("{} is not int8 with quantization parameters", operand), to_text(Type{t.dtype, t.shape, {}}), "s8", rule};
}

std::optional<Refusal> require_same_quant(const Type& a, const Type& b, const char* rule) {
  if (a.quant.scale == b.quant.scale && a.quant.zero_point == b.quant.zero_point) return std::nullopt;
  return Refusal{"operand and result must have the same scale and zero point",
                 fmt::format("{:g}, {}", b.quant.scale[0], b.quant.zero_point[0]),
                 fmt::format("{:g}, {}", a.quant.scale[0], a.quant.zero_point[0]), rule};
}

}  // namespace deuteron

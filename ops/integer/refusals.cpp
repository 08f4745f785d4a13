#include "ops/integer/refusals.h"

#include <fmt/format.h>

namespace deuteron {

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

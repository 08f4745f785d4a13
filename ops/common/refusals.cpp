// SPDX-License-Identifier: Apache-2.0
#include "ops/common/refusals.h"

#include <fmt/format.h>

namespace deuteron {

std::optional<Refusal> require_int8(const Type& t, const char* operand, const char* rule) {
  if (t.dtype == DType::s8 && !t.quant.empty()) return std::nullopt;
  return Refusal{fmt::format("{} is not int8 with quantization parameters", operand),
                 to_text(Type{t.dtype, t.shape, {}}), "s8 with scale and zero point", rule};
}

// A value whose scale nobody has chosen has neither.
static std::string scale_and_zero_point(const Quant& q) {
  return q.empty() ? "none" : fmt::format("{:g}, {}", q.scale[0], q.zero_point[0]);
}

std::optional<Refusal> require_same_quant(const Type& a, const Type& b, const char* rule) {
  if (a.quant.scale == b.quant.scale && a.quant.zero_point == b.quant.zero_point)
    return std::nullopt;
  return Refusal{"operand and result must have the same scale and zero point",
                 scale_and_zero_point(b.quant), scale_and_zero_point(a.quant), rule};
}

}  // namespace deuteron

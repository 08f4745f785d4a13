#include "ops/clamp/clamp.h"

#include <algorithm>

#include "ops/unary/table.h"

namespace deuteron {

static Result<std::vector<Type>> infer(const Clamp& a, TypeView in) {
  if (in.size() != 1) return Refusal{"clamp takes one operand", std::to_string(in.size()), "1", "clamp.operands"};
  if (!(a.bounds.low <= a.bounds.high))
    return Refusal{"the lower bound is above the upper one", std::to_string(a.bounds.low), std::to_string(a.bounds.high), "clamp.bounds"};
  return std::vector<Type>{{in[0].dtype, in[0].shape, {}}};
}

static Result<Lowered> cortex_m(const Clamp& a, const LowerContext& c) {
  return lower_as_table(c, "cortex_m.clamp.dtype", [&](float x) { return std::min(std::max(x, a.bounds.low), a.bounds.high); });
}

static constexpr QuantSpec kQuant[] = {{DType::s8, Gran::per_tensor}, {DType::s8, Gran::per_tensor}};

const OpDef<Clamp>& def_of(const Clamp&) {
  static constexpr OpDef<Clamp> d{.name = "clamp", .infer = infer, .quantize = kQuant, .macs = no_macs, .execute = execute, .cortex_m = cortex_m};
  return d;
}

}  // namespace deuteron

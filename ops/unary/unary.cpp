#include "ops/unary/unary.h"

#include "ops/unary/table.h"

namespace deuteron {

static Result<std::vector<Type>> infer(const Unary&, TypeView in) {
  if (in.size() != 1) return Refusal{"takes one operand", std::to_string(in.size()), "1", "unary.operands"};
  return std::vector<Type>{{in[0].dtype, in[0].shape, {}}};
}

static Result<Lowered> cortex_m(const Unary& a, const LowerContext& c) {
  return lower_as_table(c, "cortex_m.unary.dtype", [&](float x) { return evaluate(a.fn, x, a.alpha); });
}

static constexpr QuantSpec kQuant[] = {{DType::s8, Gran::per_tensor}, {DType::s8, Gran::per_tensor}};

const OpDef<Unary>& def_of(const Unary&) {
  static constexpr OpDef<Unary> d{.name = "unary", .infer = infer, .quantize = kQuant, .macs = no_macs, .execute = execute, .cortex_m = cortex_m};
  return d;
}

}  // namespace deuteron

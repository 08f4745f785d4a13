#include "ops/maximum/maximum.h"

#include "ops/broadcast.h"

namespace deuteron {

static Result<std::vector<Type>> infer(const Maximum&, TypeView in) { return infer_broadcast(in, "maximum.shape"); }

static Result<Lowered> cortex_m(const Maximum&, const LowerContext& c) { return lower_extremum("cortex_m::maximum", c, "cortex_m.maximum"); }

static constexpr QuantSpec kQuant[] = {{DType::s8, Gran::per_tensor}, {DType::s8, Gran::shared}, {DType::s8, Gran::shared}};

const OpDef<Maximum>& def_of(const Maximum&) {
  static constexpr OpDef<Maximum> d{.name = "maximum", .infer = infer, .quantize = kQuant, .macs = no_macs, .execute = execute, .cortex_m = cortex_m};
  return d;
}

}  // namespace deuteron

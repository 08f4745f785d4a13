#include "ops/minimum/minimum.h"

#include "ops/broadcast.h"

namespace deuteron {

static Result<std::vector<Type>> infer(const Minimum&, TypeView in) { return infer_broadcast(in, "minimum.shape"); }

static Result<Lowered> cortex_m(const Minimum&, const LowerContext& c) { return lower_extremum("cortex_m::minimum", c, "cortex_m.minimum"); }

static constexpr QuantSpec kQuant[] = {{DType::s8, Gran::per_tensor}, {DType::s8, Gran::shared}, {DType::s8, Gran::shared}};

const OpDef<Minimum>& def_of(const Minimum&) {
  static constexpr OpDef<Minimum> d{.name = "minimum", .infer = infer, .quantize = kQuant, .macs = no_macs, .execute = execute, .cortex_m = cortex_m};
  return d;
}

}  // namespace deuteron

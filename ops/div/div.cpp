// SPDX-License-Identifier: Apache-2.0
#include "ops/div/div.h"

#include "ops/common/broadcast.h"
#include "ops/common/refusals.h"

namespace deuteron {

static Result<std::vector<Type>> infer(const Div&, TypeView in) {
  return infer_broadcast(in, "div.shape");
}

static Result<Lowered> cortex_m(const Div&, const LowerContext& c) {
  const Type &a = c.in[0], &b = c.in[1], &y = c.out[0];
  for (const Type* t : {&a, &b, &y})
    if (auto r = require_int8(*t, "an operand", "cortex_m.div.dtype")) return *r;
  if (a.shape != b.shape)
    return Refusal{"shapes must be equal", to_text(a.shape), to_text(b.shape),
                   "cortex_m.div.shape"};
  const double scale = static_cast<double>(a.quant.scale[0]) /
                       (static_cast<double>(b.quant.scale[0]) * y.quant.scale[0]);
  if (!std::isfinite(static_cast<float>(scale)))
    return Refusal{"the ratio of scales does not fit a float32", fmt::format("{:g}", scale),
                   "3.4e38", "cortex_m.div.scale"};
  CallBuilder call("cortex_m::quantized_div", c.in.size(), 1);
  call.in(0, elementwise_face(a.shape)).integer(a.quant.zero_point[0]);
  call.in(1, elementwise_face(b.shape)).integer(b.quant.zero_point[0]);
  call.integer(y.quant.zero_point[0]).real(scale).out(0, elementwise_face(y.shape));
  call.may_share(0, 0).may_share(0, 1);
  return call.done();
}

static constexpr QuantSpec kQuant[] = {
    {DType::s8, Gran::per_tensor}, {DType::s8, Gran::per_tensor}, {DType::s8, Gran::per_tensor}};

static OpFacts facts_of(const Div&) { return facts(Family::binary); }
static std::vector<Example<Div>> examples() {
  return {{"equal shapes", {}, {{2, 5, 3, 7}, {2, 5, 3, 7}}}};
}

const OpDef<Div>& def_of(const Div&) {
  static constexpr OpDef<Div> d{
      .name = "div",
      .infer = infer,
      .quantize = kQuant,
      .macs = no_macs,
      .execute = execute,
      .cortex_m = cortex_m,
      .npu = not_on_npu<Div>("Neutron IR has no division; one by a constant is a product"),
      .facts = facts_of,
      .axes = kNoAxisRules<Div>,
      .view = nullptr,
      .forms = kNoForms<Div>,
      .examples = examples,
      .function = nullptr};
  return d;
}

}  // namespace deuteron

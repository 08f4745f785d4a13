// SPDX-License-Identifier: Apache-2.0
#include "ops/dequantize/dequantize.h"

#include "ops/common/refusals.h"

namespace deuteron {

static Result<std::vector<Type>> infer(const Dequantize&, TypeView in) {
  if (in.size() != 1 || in[0].quant.empty())
    return Refusal{"dequantize takes one operand with quantization parameters", "", "",
                   "dequantize.quant"};
  return std::vector<Type>{{DType::f32, in[0].shape, {}}};
}

static Result<Lowered> cortex_m(const Dequantize&, const LowerContext& c) {
  const Type &x = c.in[0], &y = c.out[0];
  const bool wide = x.dtype == DType::s16 && !x.quant.empty();
  if (!wide)
    if (auto r = require_int8(x, "x", "cortex_m.dequantize.dtype")) return *r;
  if (x.quant.per_channel())
    return Refusal{"the kernel dequantizes per tensor", "per channel", "per tensor",
                   "cortex_m.dequantize.granularity"};
  constexpr i64 kChar = 1, kShort = 2;  // ScalarType
  CallBuilder call("cortex_m::dequantize_per_tensor", c.in.size(), 1);
  call.in(0, elementwise_face(x.shape))
      .real(x.quant.scale[0])
      .integer(x.quant.zero_point[0])
      .integer(x.quant.low)
      .integer(x.quant.high);
  call.integer(wide ? kShort : kChar).out(0, elementwise_face(y.shape));
  return call.done();
}

static OpFacts facts_of(const Dequantize&) { return facts(Family::border, Values::same); }
static std::vector<Example<Dequantize>> examples() { return {{"an image", {}, {{1, 5, 3, 7}}}}; }

const OpDef<Dequantize>& def_of(const Dequantize&) {
  static constexpr OpDef<Dequantize> d{.name = "dequantize",
                                       .infer = infer,
                                       .quantize = {},
                                       .macs = no_macs,
                                       .execute = execute,
                                       .cortex_m = cortex_m,
                                       .npu = not_on_npu<Dequantize>("the CPU makes floats"),
                                       .facts = facts_of,
                                       .axes = kNoAxisRules<Dequantize>,
                                       .view = nullptr,
                                       .forms = kNoForms<Dequantize>,
                                       .examples = examples,
                                       .function = nullptr};
  return d;
}

}  // namespace deuteron

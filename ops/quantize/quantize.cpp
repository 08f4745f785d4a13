// SPDX-License-Identifier: Apache-2.0
#include "ops/quantize/quantize.h"

#include "ops/common/refusals.h"
#include "ops/common/requantize_numbers.h"
#include "ops/common/rescale_16x8.h"

namespace deuteron {

static Result<std::vector<Type>> infer(const Quantize& a, TypeView in) {
  const bool takes = in.size() == 1 && (in[0].dtype == DType::f32 || !in[0].quant.empty());
  if (!takes)
    return Refusal{"quantize takes one operand, float or with quantization parameters",
                   in.size() == 1 ? std::string(name_of(in[0].dtype)) : "", "f32",
                   "quantize.dtype"};
  const bool wide = a.quant.low < -128 || a.quant.high > 127;
  return std::vector<Type>{{wide ? DType::s16 : DType::s8, in[0].shape, a.quant}};
}

static Result<Lowered> cortex_m(const Quantize&, const LowerContext& c) {
  const Type &x = c.in[0], &y = c.out[0];
  if (x.dtype != DType::f32 && is_reference(c.rounding)) {
    const double factor = static_cast<double>(x.quant.scale[0]) / y.quant.scale[0];
    return lower_rescale_16x8(c, factor, factor, {});
  }
  if (x.dtype != DType::f32) return lower_requantize(x, y);
  const bool wide = y.dtype == DType::s16 && !y.quant.empty();
  if (!wide)
    if (auto r = require_int8(y, "y", "cortex_m.quantize.dtype")) return *r;
  if (y.quant.per_channel())
    return Refusal{"the kernel quantizes per tensor", "per channel", "per tensor",
                   "cortex_m.quantize.granularity"};
  constexpr i64 kChar = 1, kShort = 2;  // ScalarType
  CallBuilder call("cortex_m::quantize_per_tensor", c.in.size(), 1);
  call.in(0, elementwise_face(x.shape))
      .real(y.quant.scale[0])
      .integer(y.quant.zero_point[0])
      .integer(y.quant.low)
      .integer(y.quant.high);
  call.integer(wide ? kShort : kChar).out(0, elementwise_face(y.shape)).may_share(0, 0);
  return call.done();
}

static OpFacts facts_of(const Quantize&) { return facts(Family::border); }
static std::vector<Example<Quantize>> examples() {
  return {{"an image", {per_tensor(0x1p-6f, 0)}, {{1, 5, 3, 7}}}};
}

const OpDef<Quantize>& def_of(const Quantize&) {
  static constexpr OpDef<Quantize> d{.name = "quantize",
                                     .infer = infer,
                                     .quantize = {},
                                     .macs = no_macs,
                                     .execute = execute,
                                     .cortex_m = cortex_m,
                                     .npu = not_on_npu<Quantize>("the CPU makes int8"),
                                     .facts = facts_of,
                                     .axes = kNoAxisRules<Quantize>,
                                     .view = nullptr,
                                     .forms = kNoForms<Quantize>,
                                     .examples = examples,
                                     .function = nullptr};
  return d;
}

}  // namespace deuteron

// SPDX-License-Identifier: Apache-2.0
#include "ops/batch_norm/batch_norm.h"

#include "ops/op.h"

namespace deuteron {

static Result<std::vector<Type>> infer(const BatchNorm&, TypeView in) {
  if (in.size() != 5 || in[0].rank() < 1)
    return Refusal{"batch_norm takes x, weight, bias, mean and variance", std::to_string(in.size()),
                   "5", "batch_norm.operands"};
  for (size_t k = 1; k < 5; ++k)
    if (in[k].shape != Shape{in[0].shape.back()})
      return Refusal{"statistics need one element for each channel", to_text(in[k].shape),
                     to_text(Shape{in[0].shape.back()}), "batch_norm.channels"};
  return std::vector<Type>{{in[0].dtype, in[0].shape, {}}};
}

static Result<Lowered> cortex_m(const BatchNorm&, const LowerContext&) {
  return Refusal{
      "batch norm has no int8 kernel; it must stand behind a convolution or linear layer to be "
      "folded",
      "", "", "cortex_m.batch_norm"};
}

static OpFacts facts_of(const BatchNorm&) { return facts(Family::by_channel); }
static std::vector<Example<BatchNorm>> examples() {
  return {{"an image", {}, {{1, 5, 3, 7}, {7}, {7}, {7}, {7}}}};
}

const OpDef<BatchNorm>& def_of(const BatchNorm&) {
  static constexpr OpDef<BatchNorm> d{
      .name = "batch_norm",
      .infer = infer,
      .quantize = {},
      .macs = no_macs,
      .execute = execute,
      .cortex_m = cortex_m,
      .npu = not_on_npu<BatchNorm>("a batch norm that no convolution or layer took up"),
      .facts = facts_of,
      .axes = kNoAxisRules<BatchNorm>,
      .view = nullptr,
      .forms = {.simpler = simpler_form, .kernel = nullptr, .last = nullptr, .portable = nullptr},
      .examples = examples,
      .function = nullptr};
  return d;
}

}  // namespace deuteron

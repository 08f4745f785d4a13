// SPDX-License-Identifier: Apache-2.0
#include "ops/concat/concat.h"

#include "ops/common/refusals.h"

namespace deuteron {

static Result<std::vector<Type>> infer(const Concat& a, TypeView in) {
  if (in.size() == 0)
    return Refusal{"concat takes at least one operand", "0", "1", "concat.operands"};
  if (a.axis < 0 || a.axis >= in[0].rank())
    return Refusal{"the axis does not exist", std::to_string(a.axis),
                   std::to_string(in[0].rank() - 1), "concat.axis"};
  Shape y = in[0].shape;
  for (size_t k = 1; k < in.size(); ++k) {
    Shape expected = y;
    if (in[k].rank() == in[0].rank()) expected[a.axis] = in[k].shape[a.axis];
    if (in[k].shape != expected || in[k].dtype != in[0].dtype)
      return Refusal{"operand " + std::to_string(k) + " does not fit the first one",
                     to_text(in[k].shape), to_text(in[0].shape), "concat.shape"};
    y[a.axis] += in[k].shape[a.axis];
  }
  return std::vector<Type>{{in[0].dtype, std::move(y), {}}};
}

static Result<Lowered> cortex_m(const Concat& a, const LowerContext& c) {
  const Type& y = c.out[0];
  for (size_t k = 0; k < c.in.size(); ++k)
    if (auto r = require_same_quant(c.in[k], y, "cortex_m.concat.quant")) return *r;
  // Plain faces: the stock kernel copies runs of the last dimensions as if they lay in the order of
  // the sizes.
  CallBuilder call("aten::cat", c.in.size(), 1);
  call.all_in().integer(a.axis).out(0, plain_face(y.shape));
  return call.done();
}

static constexpr QuantSpec kQuant[] = {
    {DType::s8, Gran::per_tensor}, {DType::s8, Gran::shared}, {DType::s8, Gran::shared}};

// Limits: rules of ExecuTorch's NXP backend (converters of the operator); the numbers are the
// target's.
static constexpr NpuRow<Concat> kNpu[] = {
    {"parameters", "operands and result have one scale and zero point",
     must_hold("an operand and the result have different scales or zero points"),
     parameters_are_shared<Concat>},
};
static constexpr NpuSupport<Concat> kNpuSupport{
    .rows = kNpu, .builtin = "CONCATENATION", .absent = {}};

static OpFacts facts_of(const Concat&) {
  return facts(Family::movement, Values::moved, Storage::around_operands);
}
static std::vector<Example<Concat>> examples() {
  return {{"channels", {3}, {{1, 5, 3, 7}, {1, 5, 3, 2}}},
          {"three rows", {0}, {{2, 11}, {1, 11}, {3, 11}}}};
}

const OpDef<Concat>& def_of(const Concat&) {
  static constexpr OpDef<Concat> d{.name = "concat",
                                   .infer = infer,
                                   .quantize = kQuant,
                                   .macs = no_macs,
                                   .execute = execute,
                                   .cortex_m = cortex_m,
                                   .npu = kNpuSupport,
                                   .facts = facts_of,
                                   .axes = kOneAxis<Concat>,
                                   .view = nullptr,
                                   .forms = kNoForms<Concat>,
                                   .examples = examples,
                                   .function = nullptr};
  return d;
}

}  // namespace deuteron

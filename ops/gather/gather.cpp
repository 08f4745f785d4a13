#include "ops/gather/gather.h"

#include "ops/integer/refusals.h"

namespace deuteron {

static Result<std::vector<Type>> infer(const Gather& a, TypeView in) {
  if (in.size() != 1) return Refusal{"gather takes one operand", std::to_string(in.size()), "1", "gather.operands"};
  if (a.axis < 0 || a.axis >= in[0].rank())
    return Refusal{"the axis does not exist", std::to_string(a.axis), std::to_string(in[0].rank() - 1), "gather.axis"};
  for (const i64 k : a.index)
    if (k < 0 || k >= in[0].shape[a.axis])
      return Refusal{"an index lies outside the axis", std::to_string(k), std::to_string(in[0].shape[a.axis] - 1), "gather.index"};
  Shape y = in[0].shape;
  y[a.axis] = static_cast<i64>(a.index.size());
  return std::vector<Type>{{in[0].dtype, std::move(y), {}}};
}

static Result<Lowered> cortex_m(const Gather& a, const LowerContext& c) {
  const Type &x = c.in[0], &y = c.out[0];
  if (auto r = require_same_quant(x, y, "cortex_m.gather.quant")) return *r;
  CallBuilder call("aten::index_select", c.in.size(), 1);
  call.in(0, plain_face(x.shape)).integer(a.axis);
  call.constant(DType::s64, {static_cast<i64>(a.index.size())}, std::vector<int64_t>(a.index.begin(), a.index.end()));
  call.out(0, plain_face(y.shape));
  return call.done();
}

static constexpr QuantSpec kQuant[] = {{DType::s8, Gran::per_tensor}, {DType::s8, Gran::shared}};

static OpFacts facts_of(const Gather&) { return facts(Family::movement, Values::moved); }
static std::vector<Example<Gather>> examples() {
  return {{"rows backwards", {1, {4, 3, 2, 1, 0}}, {{2, 5, 3}}}, {"a column twice", {2, {0, 0, 2}}, {{1, 5, 3, 7}}}};
}

const OpDef<Gather>& def_of(const Gather&) {
  static constexpr OpDef<Gather> d{.name = "gather",
                                   .infer = infer,
                                   .quantize = kQuant,
                                   .macs = no_macs,
                                   .execute = execute,
                                   .cortex_m = cortex_m,
                                   .npu = not_on_npu<Gather>("Neutron IR has no gathering"),
                                   .facts = facts_of,
                                   .axes = kOneAxis<Gather>,
                                   .view = nullptr,
                                   .forms = kNoForms<Gather>,
                                   .examples = examples,
                                   .function = nullptr};
  return d;
}

}  // namespace deuteron

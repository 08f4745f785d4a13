// SPDX-License-Identifier: Apache-2.0
#include "ops/permute/permute.h"

#include "ops/common/refusals.h"
#include "ops/permute/collapse.h"

namespace deuteron {

static Result<std::vector<Type>> infer(const Permute& a, TypeView in) {
  const bool one = in.size() == 1;
  std::vector<bool> used(a.perm.size(), false);
  bool valid = one && static_cast<i64>(a.perm.size()) == in[0].rank();
  for (const i64 k : a.perm) {
    valid = valid && k >= 0 && k < static_cast<i64>(used.size()) && !used[k];
    if (valid) used[k] = true;
  }
  if (!valid)
    return Refusal{"perm is not a permutation of the axes", to_text(a.perm),
                   one ? to_text(in[0].shape) : "", "permute.perm"};
  Shape y(a.perm.size());
  for (size_t k = 0; k < y.size(); ++k) y[k] = in[0].shape[a.perm[k]];
  return std::vector<Type>{{in[0].dtype, std::move(y), {}}};
}

static Result<Lowered> cortex_m(const Permute& a, const LowerContext& c) {
  const Type &x = c.in[0], &y = c.out[0];
  if (auto r = require_int8(x, "x", "cortex_m.permute.dtype")) return *r;
  if (auto r = require_int8(y, "y", "cortex_m.permute.dtype")) return *r;
  if (auto r = require_same_quant(x, y, "cortex_m.permute.quant")) return *r;
  const CollapsedPermute few = x.rank() > static_cast<i64>(kKernelAxes)
                                   ? collapse(x.shape, a.perm)
                                   : CollapsedPermute{x.shape, a.perm};
  if (few.shape.size() > kKernelAxes)
    return Refusal{"the kernel takes rank 1 to 4", std::to_string(few.shape.size()), "4",
                   "cortex_m.permute.rank"};
  Shape turned;
  for (const i64 axis : few.perm) turned.push_back(few.shape[axis]);

  CallBuilder call("cortex_m::transpose", c.in.size(), 1);
  call.in(0, plain_face(few.shape)).integers(few.perm).out(0, plain_face(turned));
  return call.done();
}

static constexpr QuantSpec kQuant[] = {{DType::s8, Gran::per_tensor}, {DType::s8, Gran::shared}};

// Limits: rules of ExecuTorch's NXP backend (converters of the operator); the numbers are the
// target's.
static constexpr NpuRow<Permute> kNpu[] = {
    {"parameters", "operand and result have one scale and zero point",
     must_hold("the operand and the result have different scales or zero points"),
     parameters_are_shared<Permute>},
    {"rank", "rank", NpuTest::at_most, rank_of_result<Permute>, &NpuLimits::permute_rank},
};
static constexpr NpuSupport<Permute> kNpuSupport{
    .rows = kNpu, .builtin = "TRANSPOSE", .absent = {}};

static OpFacts facts_of(const Permute&) { return facts(Family::movement, Values::moved); }
static std::vector<Example<Permute>> examples() {
  return {{"channels first", {{0, 3, 1, 2}}, {{1, 6, 9, 4}}},
          {"a matrix turned", {{1, 0}}, {{5, 11}}}};
}

const OpDef<Permute>& def_of(const Permute&) {
  static constexpr OpDef<Permute> d{
      .name = "permute",
      .infer = infer,
      .quantize = kQuant,
      .macs = no_macs,
      .execute = execute,
      .cortex_m = cortex_m,
      .npu = kNpuSupport,
      .facts = facts_of,
      .axes = kNoAxisRules<Permute>,
      .view = nullptr,
      .forms = {.simpler = nullptr, .kernel = nullptr, .last = last_form, .portable = nullptr},
      .examples = examples,
      .function = nullptr};
  return d;
}

}  // namespace deuteron

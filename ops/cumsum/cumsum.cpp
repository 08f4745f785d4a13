// SPDX-License-Identifier: Apache-2.0
#include "ops/cumsum/cumsum.h"

#include "kernels/cumsum/kernel.h"
#include "ops/common/multiplier.h"
#include "ops/common/refusals.h"

namespace deuteron {

static Result<std::vector<Type>> infer(const Cumsum& a, TypeView in) {
  if (in.size() != 1 || a.axis < 0 || a.axis >= in[0].rank())
    return Refusal{"cumsum needs an axis of x", std::to_string(a.axis),
                   std::to_string(in.size() == 1 ? in[0].rank() : 0), "cumsum.axis"};
  return std::vector<Type>{{in[0].dtype, in[0].shape, {}}};
}

// A sum is brought to the result's scale once, however many elements it has, so nothing is rounded
// twice.
static Result<Lowered> deuteron_call(const Cumsum& a, const LowerContext& c) {
  const Type &x = c.in[0], &y = c.out[0];
  if (auto r = require_int8(x, "x", "cortex_m.cumsum.dtype")) return *r;
  if (auto r = require_int8(y, "y", "cortex_m.cumsum.dtype")) return *r;
  const double factor =
      static_cast<double>(x.quant.scale[0]) / static_cast<double>(y.quant.scale[0]);
  const auto m = checked_multiplier(factor, ties_of(c.rounding), "cortex_m.cumsum.scale");
  if (!m) return m.why;
  const i64 length = x.shape[static_cast<size_t>(a.axis)], most = most_cumsum_length(m->shift);
  if (length > most)
    return Refusal{"elements of a running sum in int32", std::to_string(length),
                   std::to_string(most), "cortex_m.cumsum.elements"};
  CallBuilder call("deuteron::cumsum", c.in.size(), 1);
  call.in(0, plain_face(x.shape))
      .integer(a.axis)
      .integer(x.quant.zero_point[0])
      .integer(y.quant.zero_point[0]);
  call.integer(m->value).integer(m->shift).out(0, plain_face(y.shape)).may_share(0, 0);
  return call.done();
}

Result<Lowered> float_form(const Cumsum& a, const LowerContext& c) {
  CallBuilder call("aten::cumsum", c.in.size(), 1);
  call.in(0, plain_face(c.in[0].shape)).integer(a.axis).none().out(0, plain_face(c.out[0].shape));
  return call.done();
}

static constexpr QuantSpec kQuant[] = {{DType::s8, Gran::per_tensor},
                                       {DType::s8, Gran::per_tensor}};

static OpFacts facts_of(const Cumsum&) { return facts(Family::slices); }
static std::vector<Example<Cumsum>> examples() {
  return {{"of a row", {1}, {{2, 16}}},
          {"of rows of an image", {1}, {{2, 5, 3, 7}}},
          {"of channels", {3}, {{1, 5, 3, 7}}},
          {"of one axis", {0}, {{9}}},
          {"in the middle of five", {2}, {{2, 3, 4, 3, 2}}}};
}

const OpDef<Cumsum>& def_of(const Cumsum&) {
  static constexpr OpDef<Cumsum> d{.name = "cumsum",
                                   .infer = infer,
                                   .quantize = kQuant,
                                   .macs = no_macs,
                                   .execute = execute,
                                   .cortex_m = deuteron_call,
                                   .npu = not_on_npu<Cumsum>("Neutron IR has no running sums"),
                                   .facts = facts_of,
                                   .axes = kOneAxis<Cumsum>,
                                   .view = nullptr,
                                   .forms = kNoForms<Cumsum>,
                                   .examples = examples,
                                   .function = nullptr};
  return d;
}

}  // namespace deuteron

// SPDX-License-Identifier: Apache-2.0
#include "ops/gather/mirrored_ends.h"

#include <algorithm>

#include "ops/common/refusals.h"

namespace deuteron {

static Result<std::vector<Type>> infer(const Gather& a, TypeView in) {
  if (in.size() != 1)
    return Refusal{"gather takes one operand", std::to_string(in.size()), "1", "gather.operands"};
  if (a.axis < 0 || a.axis >= in[0].rank())
    return Refusal{"the axis does not exist", std::to_string(a.axis),
                   std::to_string(in[0].rank() - 1), "gather.axis"};
  for (const i64 k : a.index)
    if (k < 0 || k >= in[0].shape[a.axis])
      return Refusal{"an index lies outside the axis", std::to_string(k),
                     std::to_string(in[0].shape[a.axis] - 1), "gather.index"};
  Shape y = in[0].shape;
  y[a.axis] = static_cast<i64>(a.index.size());
  return std::vector<Type>{{in[0].dtype, std::move(y), {}}};
}

static Result<Lowered> cortex_m(const Gather& a, const LowerContext& c) {
  const Type &x = c.in[0], &y = c.out[0];
  if (auto r = require_same_quant(x, y, "cortex_m.gather.quant")) return *r;
  CallBuilder call("aten::index_select", c.in.size(), 1);
  call.in(0, plain_face(x.shape)).integer(a.axis);
  call.constant(DType::s64, {static_cast<i64>(a.index.size())},
                std::vector<int64_t>(a.index.begin(), a.index.end()));
  call.out(0, plain_face(y.shape));
  return call.done();
}

std::optional<MirroredEnds> mirrored_ends(const Gather& a, i64 extent) {
  const i64 added = static_cast<i64>(a.index.size()) - extent;
  for (const bool with_edge : {false, true}) {
    const i64 most = with_edge ? extent : extent - 1, edge = with_edge ? 1 : 0;
    for (i64 before = 0; added > 0 && before <= std::min(added, most); ++before) {
      const auto position = [&](i64 k) {
        if (k < before) return before - k - edge;
        return k < before + extent ? k - before : 2 * extent - 2 + edge - (k - before);
      };
      bool mirrors = added - before <= most;
      for (size_t k = 0; mirrors && k < a.index.size(); ++k)
        mirrors = a.index[k] == position(static_cast<i64>(k));
      if (mirrors) return MirroredEnds{before, added - before, with_edge};
    }
  }
  return std::nullopt;
}

static constexpr QuantSpec kQuant[] = {{DType::s8, Gran::per_tensor}, {DType::s8, Gran::shared}};

// ExecuTorch's NXP backend has MIRROR_PAD for reflection. Padding that repeats the edge is the same
// operator with another mode.
static constexpr NpuRow<Gather> kNpu[] = {
    {"mirror", "the gather mirrors the ends of its axis (reflection padding)",
     must_hold("Neutron IR gathers nothing but reflection padding"),
     [](const Gather& a, const NpuOperands& o) {
       return std::optional<i64>(
           mirrored_ends(a, o.in[0].shape[static_cast<size_t>(a.axis)]).has_value());
     }},
    {"parameters", "operand and result have one scale and zero point",
     must_hold("the operand and the result have different scales or zero points"),
     parameters_are_shared<Gather>},
    {"rank", "rank", NpuTest::at_most, rank_of_result<Gather>, &NpuLimits::rank},
};
static constexpr NpuSupport<Gather> kNpuSupport{
    .rows = kNpu, .builtin = "MIRROR_PAD", .absent = {}};

static OpFacts facts_of(const Gather&) { return facts(Family::movement, Values::moved); }
static std::vector<Example<Gather>> examples() {
  return {{"rows backwards", {1, {4, 3, 2, 1, 0}}, {{2, 5, 3}}},
          {"a column twice", {2, {0, 0, 2}}, {{1, 5, 3, 7}}},
          {"mirrored columns", {2, {2, 1, 0, 1, 2, 3, 2}}, {{1, 3, 4, 5}}}};
}

const OpDef<Gather>& def_of(const Gather&) {
  static constexpr OpDef<Gather> d{.name = "gather",
                                   .infer = infer,
                                   .quantize = kQuant,
                                   .macs = no_macs,
                                   .execute = execute,
                                   .cortex_m = cortex_m,
                                   .npu = kNpuSupport,
                                   .facts = facts_of,
                                   .axes = kOneAxis<Gather>,
                                   .view = nullptr,
                                   .forms = kNoForms<Gather>,
                                   .examples = examples,
                                   .function = nullptr};
  return d;
}

std::optional<Repeat> Gather::repeat(const Shape& x) const {
  const i64 before = x[static_cast<size_t>(axis)], after = static_cast<i64>(index.size()),
            times = before > 0 ? after / before : 0;
  if (times < 2 || times * before != after) return std::nullopt;
  for (i64 k = 0; k < after; ++k)
    if (index[static_cast<size_t>(k)] != k / times) return std::nullopt;
  return Repeat{axis, times};
}

}  // namespace deuteron

// SPDX-License-Identifier: Apache-2.0
#include "ops/slice/slice.h"

#include "ops/common/refusals.h"
#include "ops/families.h"

namespace deuteron {

static Result<std::vector<Type>> infer(const Slice& a, TypeView in) {
  if (in.size() != 1)
    return Refusal{"slice takes one operand", std::to_string(in.size()), "1", "slice.operands"};
  const Shape& x = in[0].shape;
  if (a.axis < 0 || a.axis >= in[0].rank())
    return Refusal{"the axis does not exist", std::to_string(a.axis),
                   std::to_string(in[0].rank() - 1), "slice.axis"};
  if (a.step < 1 || a.start < 0 || a.count < 1 || a.start > x[a.axis] - 1 ||
      a.count - 1 > (x[a.axis] - 1 - a.start) / a.step)
    return Refusal{
        "the slice reaches outside its operand",
        std::to_string(a.start) + " + " + std::to_string(a.count) + " x " + std::to_string(a.step),
        std::to_string(x[a.axis]), "slice.extent"};
  Shape y = x;
  y[a.axis] = a.count;
  return std::vector<Type>{{in[0].dtype, std::move(y), {}}};
}

bool is_contiguous(const Slice& a, const Shape& x) {
  if (a.step != 1 && a.count != 1) return false;
  return numel(std::span(x).first(static_cast<size_t>(a.axis))) == 1;
}

i64 first_element(const Slice& a, const Shape& x) {
  return a.start * numel(std::span(x).subspan(static_cast<size_t>(a.axis) + 1));
}

static Result<Lowered> cortex_m(const Slice& a, const LowerContext& c) {
  const Type &x = c.in[0], &y = c.out[0];
  if (auto r = require_same_quant(x, y, "cortex_m.slice.quant")) return *r;
  // Plain faces: the stock kernel copies runs of the last dimensions as if they lay in the order of
  // the sizes.
  CallBuilder call("aten::slice_copy", c.in.size(), 1);
  call.overload("Tensor_out");
  call.in(0, plain_face(x.shape))
      .integer(a.axis)
      .integer(a.start)
      .integer(a.start + (a.count - 1) * a.step + 1)
      .integer(a.step);
  call.out(0, plain_face(y.shape));
  return call.done();
}

static constexpr QuantSpec kQuant[] = {{DType::s8, Gran::per_tensor}, {DType::s8, Gran::shared}};

// Limits: rules of ExecuTorch's NXP backend (converters of the operator); the numbers are the
// target's.
static constexpr NpuRow<Slice> kNpu[] = {
    {"step", "step", NpuTest::equals,
     [](const Slice& a, const NpuOperands&) { return std::optional<i64>(a.step); }, nullptr, 1},
};
static constexpr NpuSupport<Slice> kNpuSupport{.rows = kNpu, .builtin = "SLICE", .absent = {}};

static std::optional<i64> view(const Slice& a, TypeView in) {
  const i64 first = first_element(a, in[0].shape);
  return is_contiguous(a, in[0].shape) && may_begin_at(in[0].dtype, first * bytes_of(in[0].dtype))
             ? std::optional(first)
             : std::nullopt;
}
static OpFacts facts_of(const Slice&) {
  return facts(Family::movement, Values::moved, Storage::in_operand);
}
static std::vector<Example<Slice>> examples() {
  return {{"rows", {1, 1, 3, 1}, {{1, 6, 9, 4}}},
          {"every other channel", {3, 0, 4, 2}, {{2, 5, 3, 7}}}};
}

const OpDef<Slice>& def_of(const Slice&) {
  static constexpr OpDef<Slice> d{.name = "slice",
                                  .infer = infer,
                                  .quantize = kQuant,
                                  .macs = no_macs,
                                  .execute = execute,
                                  .cortex_m = cortex_m,
                                  .npu = kNpuSupport,
                                  .facts = facts_of,
                                  .axes = kOneAxis<Slice>,
                                  .view = view,
                                  .forms = kNoForms<Slice>,
                                  .examples = examples,
                                  .function = nullptr};
  return d;
}

std::optional<FirstLeftOut> first_left_out(const Op& op, const Shape& x) {
  const auto* slice = std::get_if<Slice>(&op);
  const bool is_rest = slice && slice->step == 1 && slice->start + slice->count == x[slice->axis];
  return is_rest ? std::optional(FirstLeftOut{slice->axis, slice->start}) : std::nullopt;
}

}  // namespace deuteron

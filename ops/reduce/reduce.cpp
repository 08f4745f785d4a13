#include "ops/reduce/reduce.h"

#include "ops/op.h"

namespace deuteron {

static Result<std::vector<Type>> infer(const Reduce& a, TypeView in) {
  if (in.size() != 1 || a.axes.empty() || a.fn < Reduce::kMean || a.fn > Reduce::kMin)
    return Refusal{"reduce takes one operand, and at least one axis", to_text(a.axes), "", "reduce.operands"};
  Shape y = in[0].shape;
  i64 last = -1;
  for (const i64 axis : a.axes) {
    if (axis <= last || axis >= in[0].rank())
      return Refusal{"the axes are not those of x, ascending", to_text(a.axes), to_text(in[0].shape), "reduce.axes"};
    if (y[axis] < 1) return Refusal{"a slice has no elements", to_text(in[0].shape), "1", "reduce.extent"};
    y[axis] = 1;
    last = axis;
  }
  return std::vector<Type>{{in[0].dtype, std::move(y), {}}};
}

static Result<Lowered> cortex_m(const Reduce& a, const LowerContext& c) {
  return Refusal{"a reduction over these axes has no int8 form", to_text(a.axes), to_text(c.in[0].shape), "cortex_m.reduce"};
}

// Limits: rules of ExecuTorch's NXP backend (converters of the operator); the numbers are the target's.
static constexpr NpuRow<Reduce> kNpu[] = {
    {"rank", "rank", NpuTest::at_most, rank_of_result<Reduce>, &NpuLimits::rank},
};
static constexpr NpuSupport<Reduce> kNpuSupport{.rows = kNpu, .builtin = "MEAN, SUM, REDUCE_MAX, REDUCE_MIN", .absent = {}};

const OpDef<Reduce>& def_of(const Reduce&) {
  static constexpr OpDef<Reduce> d{
      .name = "reduce", .infer = infer, .quantize = {}, .macs = no_macs, .execute = execute, .cortex_m = cortex_m, .npu = kNpuSupport};
  return d;
}

}  // namespace deuteron

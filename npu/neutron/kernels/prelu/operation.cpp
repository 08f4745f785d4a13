// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "npu/neutron/converter/fuse.h"
#include "npu/neutron/converter/lowering.h"
#include "npu/neutron/converter/operator_reader.h"
#include "npu/neutron/converter/scales.h"
#include "npu/neutron/kernels/prelu/call.h"
#include "ops/prelu/multiplier.h"

namespace deuteron::neutron {
namespace {

// Operands x, slope, which broadcasts to x.
Fault read(OperatorReader& op, const tflite::Operator&) {
  DEUTERON_TRY(op.int8(0));
  DEUTERON_TRY(op.int8(1));
  DEUTERON_TRY(op.int8_result());
  DEUTERON_TRY(op.shape_of_y(op.shape(0)));
  const Shape &x = op.shape(0), &a = op.shape(1);
  if (a.size() > x.size())
    return op.wrong("rank of the slope", fmt::format("{}", a.size()), fmt::format("{}", x.size()));
  for (size_t back = 1; back <= a.size(); ++back)
    if (const i64 e = a[a.size() - back]; e != 1 && e != x[x.size() - back])
      return op.wrong("shape of the slope", to_text(a),
                      fmt::format("one that broadcasts to {}", to_text(x)));
  return op.push(prelu_operation, {}, {op.in(0), op.in(1)});
}

// Refused when there are several slopes.
std::optional<FunctionOfOne> as_function(const Model& m, const Operation& s) {
  const auto slope = uniform_value(m, s.inputs[1]);
  if (!slope) return std::nullopt;
  const Quant &qx = m.type(s.inputs[0]).quant, &qs = m.type(s.inputs[1]).quant;
  const auto f = prelu_multipliers(qx, qs, s.y, kScaleRule);
  if (!f) return std::nullopt;
  FunctionOfOne t{s.inputs[0], {}};
  for (i32 q = -128; q <= 127; ++q)
    t.value[q + 128] =
        static_cast<int8_t>(std::clamp(prelu_value(*f, qx, qs, s.y, q, *slope), s.low, s.high));
  return t;
}

bool reads_gaps(size_t operand) { return operand == 1; }

Fault lower(Lowering& l, const Operation& s) {
  const Type &x = l.type(s.inputs[0]), &slope = l.type(s.inputs[1]);
  const auto f = prelu_multipliers(x.quant, slope.quant, s.y, kScaleRule);
  if (!f) return l.bad_scale("prelu");
  StridedAxes walk{x.shape, {l.strides_over(s.inputs[1], x.shape), l.strides(s.output)}};
  walk.simplify();
  if (!walk.fits()) return l.wrong("axes", static_cast<i64>(walk.extent.size()), kMaxRank, "prelu");
  PreluCall c{};
  walk.fill(c.extent);
  walk.fill(0, c.alpha_stride);
  c.x_zero = x.quant.zero_point[0], c.alpha_zero = slope.quant.zero_point[0],
  c.y_zero = s.y.zero_point[0];
  c.positive_multiplier = f->positive.value, c.positive_shift = f->positive.shift;
  c.negative_multiplier = f->negative.value, c.negative_shift = f->negative.shift;
  fill_bounds(c, s);
  l.locate(c.x, s.inputs[0]);
  l.locate(c.alpha, s.inputs[1]);
  l.locate(c.y, s.output);
  l.push(Kind::kPrelu, c);
  return std::nullopt;
}

constexpr TfliteRow kRows[] = {
    {tflite::BuiltinOperator::PRELU, "prelu", 2, 2, false, read},
};

}  // namespace

const OperationDef prelu_operation = {
    .tflite = kRows,
    .fusing = {.is_identity = never_identity,
               .ending = requantized_ending,
               .only_moves = false,
               .as_function = as_function,
               .fold = nullptr,
               .fuse = nullptr},
    .placing = {.reads_gaps = reads_gaps,
                .writes_gaps = writes_no_gaps,
                .overwrites = 1,
                .share = nullptr,
                .without_kernel = {}},
    .lower = lower,
};

}  // namespace deuteron::neutron

// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "npu/neutron/converter/lowering.h"
#include "npu/neutron/converter/operator_reader.h"
#include "npu/neutron/converter/scales.h"
#include "npu/neutron/kernels/softmax/call.h"
#include "ops/softmax/multiplier.h"

namespace deuteron::neutron {
namespace {

// Over the last axis.
struct RowSoftmax {
  float beta = 1;
};

Fault read(OperatorReader& op, const tflite::Operator& o) {
  const auto* p = o.builtin_options_as_SoftmaxOptions();
  if (!p) return op.wrong("no options");
  DEUTERON_TRY(op.int8(0));
  DEUTERON_TRY(op.int8_result());
  if (op.type(0).rank() < 1) return op.wrong("rank", "0", "at least 1");
  DEUTERON_TRY(op.shape_of_y(op.shape(0)));
  if (!std::isfinite(p->beta()) || p->beta() <= 0)
    return op.wrong("beta", fmt::format("{:g}", p->beta()), "positive");
  if (op.y().quant.scale[0] != 1.0f / 256 || op.y().quant.zero_point[0] != -128)
    return op.wrong("scale and zero point of the result",
                    fmt::format("{:g}, {}", op.y().quant.scale[0], op.y().quant.zero_point[0]),
                    "1/256, -128");
  return op.push(softmax_operation, RowSoftmax{p->beta()}, {op.in(0)});
}

Fault lower(Lowering& l, const Operation& s) {
  const auto& a = s.as<RowSoftmax>();
  const Type& x = l.type(s.inputs[0]);
  const auto f = softmax_multiplier(x.quant, a.beta, Ties::away, kScaleRule);
  if (!f)
    return Refusal{"the scale of x is too small", fmt::format("{:g}", x.quant.scale[0]), "2^-26",
                   "neutron.softmax"};
  SoftmaxCall c{};
  c.columns = l.word(x.shape.back()), c.rows = l.word(x.elements() / x.shape.back());
  c.multiplier = f->input.value, c.shift = f->input.shift, c.diff_min = f->diff_min;
  l.locate(c.x, s.inputs[0]);
  l.locate(c.y, s.output);
  l.push(Kind::kSoftmax, c);
  return std::nullopt;
}

constexpr TfliteRow kRows[] = {
    {tflite::BuiltinOperator::SOFTMAX, "softmax", 1, 1, false, read},
};

}  // namespace

const OperationDef softmax_operation = {
    .tflite = kRows,
    .fusing = kNoFusing,
    .placing = {.reads_gaps = reads_no_gaps,
                .writes_gaps = writes_no_gaps,
                .overwrites = 1,
                .share = nullptr,
                .without_kernel = {}},
    .lower = lower,
};

}  // namespace deuteron::neutron

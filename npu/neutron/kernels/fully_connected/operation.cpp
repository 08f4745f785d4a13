// SPDX-License-Identifier: Apache-2.0
#include "npu/neutron/converter/lowering.h"
#include "npu/neutron/converter/operator_reader.h"
#include "npu/neutron/converter/pack_weights.h"
#include "npu/neutron/converter/scales.h"
#include "npu/neutron/kernels/fully_connected/call.h"

namespace deuteron::neutron {
namespace {

// Operands x [rows..., c], weight [oc,c], bias or none.
Fault read(OperatorReader& op, const tflite::Operator& o) {
  const auto* p = o.builtin_options_as_FullyConnectedOptions();
  if (!p) return op.wrong("no options");
  if (p->weights_format() != tflite::FullyConnectedWeightsFormat::DEFAULT)
    return op.wrong("shuffled weights are not supported");
  DEUTERON_TRY(op.int8(0));
  DEUTERON_TRY(op.int8_result());
  const Shape& w = op.shape(1);
  if (w.size() != 2) return op.wrong("rank of the weights", fmt::format("{}", w.size()), "2");
  DEUTERON_TRY(op.weights(1, 2, 0, w[0]));
  DEUTERON_TRY(op.bias(2, w[0]));
  const i64 elements = op.type(0).elements();
  if (elements % w[1] != 0)
    return op.wrong("elements of the operand", fmt::format("{}", elements),
                    fmt::format("a multiple of {}", w[1]));
  if (op.y().rank() < 1 || op.y().shape.back() != w[0] ||
      op.y().elements() != elements / w[1] * w[0])
    return op.wrong("shape of the result", to_text(op.y().shape),
                    fmt::format("{} rows of {}", elements / w[1], w[0]));
  Operation s;
  DEUTERON_TRY(op.activation(p->fused_activation_function(), &s));
  return op.push(fully_connected_operation, {}, {op.in(0), op.in(1), op.in(2)}, s);
}

Fault lower(Lowering& l, const Operation& s) {
  const Shape& w = l.shape(s.inputs[1]);
  const Quant& qx = l.type(s.inputs[0]).quant;
  // TFLite's kernel rounds once, in double: so does an accumulator here where the factor keeps
  // enough bits without a shift.
  const auto factors = channel_multipliers(qx, l.type(s.inputs[1]).quant, s.y, w[0],
                                           unshifted_form_of(Rounding::tflite), kScaleRule);
  if (!factors) return l.bad_scale("fully_connected");
  FullyConnectedCall c{};
  c.rows = l.word(l.type(s.inputs[0]).elements() / w[1]), c.in = l.word(w[1]), c.out = l.word(w[0]);
  c.x_zero = qx.zero_point[0], c.y_zero = s.y.zero_point[0];
  fill_bounds(c, s);
  l.locate(c.x, s.inputs[0]);
  l.locate(c.y, s.output);
  l.constant(c.weights, pack_by_channel(l.weights(s.inputs[1]), w[0], 1, 1, w[1]));
  l.constant(c.params, pack_parameters(l.bias(s.inputs[2]), *factors));
  l.push(Kind::kFullyConnected, c);
  return std::nullopt;
}

constexpr TfliteRow kRows[] = {
    {tflite::BuiltinOperator::FULLY_CONNECTED, "fully_connected", 2, 3, true, read},
};

}  // namespace

const OperationDef fully_connected_operation = {
    .tflite = kRows,
    .fusing = kRequantizes,
    .placing = kDense,
    .lower = lower,
};

}  // namespace deuteron::neutron

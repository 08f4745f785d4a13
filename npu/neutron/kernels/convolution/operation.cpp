// SPDX-License-Identifier: Apache-2.0
#include "npu/neutron/kernels/convolution/operation.h"

#include "npu/neutron/converter/fuse.h"
#include "npu/neutron/converter/operator_reader.h"
#include "npu/neutron/kernels/convolution/lower.h"
#include "npu/neutron/kernels/pad/fold.h"

namespace deuteron::neutron {
namespace {

Fault read(OperatorReader& op, const tflite::Operator& o) {
  const auto* p = o.builtin_options_as_Conv2DOptions();
  if (!p) return op.wrong("no options");
  DEUTERON_TRY(op.int8(0));
  DEUTERON_TRY(op.int8_result());
  const Shape &x = op.shape(0), &w = op.shape(1), &r = op.y().shape;
  DEUTERON_TRY(op.convolved(0, 0, 2));
  if (w[3] != x[3])
    return op.wrong("channels of the weights", fmt::format("{}", w[3]), fmt::format("{}", x[3]));
  DEUTERON_TRY(op.image_result(x[0], w[0]));
  Window v{
      w[1], w[2], p->stride_h(), p->stride_w(), p->dilation_h_factor(), p->dilation_w_factor()};
  Operation s;
  DEUTERON_TRY(op.sliding(*p, x, r, &v, &s));
  return op.push(convolution_operation, Convolution{v}, {op.in(0), op.in(1), op.in(2)}, s);
}

bool fold(Model& m, const TensorUses& uses, Operation& s) {
  return fold_pad(m, uses, s, s.as<Convolution>().window, m.type(s.inputs[0]).quant.zero_point[0]);
}

Fault lower(Lowering& l, const Operation& s) {
  return lower_convolution(l, s, s.as<Convolution>().window, l.weights(s.inputs[1]));
}

constexpr TfliteRow kRows[] = {
    {tflite::BuiltinOperator::CONV_2D, "conv_2d", 2, 3, true, read},
};

}  // namespace

const OperationDef convolution_operation = {
    .tflite = kRows,
    .fusing = {.is_identity = never_identity,
               .ending = requantized_ending,
               .only_moves = false,
               .as_function = no_function,
               .fold = fold,
               .fuse = nullptr},
    .placing = kWithGaps,
    .lower = lower,
};

}  // namespace deuteron::neutron

// SPDX-License-Identifier: Apache-2.0
#include "npu/neutron/converter/operator_reader.h"
#include "npu/neutron/kernels/convolution/lower.h"

namespace deuteron::neutron {
namespace {

// Operands x [n,h,w,c], weight [oc,kh,kw,c], bias or none. `top` and `left` are cut from the full
// result.
struct TransposedConvolution {
  Window window;
};

Fault read(OperatorReader& op, const tflite::Operator& o) {
  const auto* p = o.builtin_options_as_TransposeConvOptions();
  if (!p) return op.wrong("no options");
  std::vector<i64> given;
  DEUTERON_TRY(op.ints(0, &given));
  DEUTERON_TRY(op.int8(2));
  DEUTERON_TRY(op.int8_result());
  DEUTERON_TRY(op.shape_of_y(given));
  const Shape &x = op.shape(2), &w = op.shape(1), &r = op.y().shape;
  DEUTERON_TRY(op.convolved(2, 0, 3));
  if (w[3] != x[3])
    return op.wrong("channels of the weights", fmt::format("{}", w[3]), fmt::format("{}", x[3]));
  DEUTERON_TRY(op.image_result(x[0], w[0]));
  Window v{w[1], w[2], p->stride_h(), p->stride_w(), 1, 1};
  Operation s;
  DEUTERON_TRY(
      op.sliding(*p, r, x, &v, &s));  // the padding is that of the convolution from the result to x
  return op.push(transposed_convolution_operation, TransposedConvolution{v},
                 {op.in(2), op.in(1), op.in(3)}, s);
}

Fault lower(Lowering& l, const Operation& s) {
  const Window& w = s.as<TransposedConvolution>().window;
  ConvCall c{};
  DEUTERON_TRY(fill_convolution(l, s, w, "transpose_conv", c));
  DEUTERON_TRY(
      locate_operands(l, s, Kind::kConv2DTransposed, l.weights(s.inputs[1]), "transpose_conv", c));
  l.push(Kind::kConv2DTransposed, c);
  return std::nullopt;
}

constexpr TfliteRow kRows[] = {
    {tflite::BuiltinOperator::TRANSPOSE_CONV, "transpose_conv", 3, 4, true, read},
};

}  // namespace

const OperationDef transposed_convolution_operation = {
    .tflite = kRows,
    .fusing = kRequantizes,
    .placing = kWithGaps,
    .lower = lower,
};

}  // namespace deuteron::neutron

// SPDX-License-Identifier: Apache-2.0
#include "npu/neutron/converter/fuse.h"
#include "npu/neutron/converter/operator_reader.h"
#include "npu/neutron/converter/pack_weights.h"
#include "npu/neutron/converter/scales.h"
#include "npu/neutron/kernels/convolution/lower.h"
#include "npu/neutron/kernels/depthwise/cost.h"
#include "npu/neutron/kernels/pad/fold.h"

namespace deuteron::neutron {
namespace {

// Operands x [n,h,w,c], weight [1,kh,kw,c*m], bias [c*m] or none.
struct Depthwise {
  Window window;
  i64 multiplier = 1;
};

Fault read(OperatorReader& op, const tflite::Operator& o) {
  const auto* p = o.builtin_options_as_DepthwiseConv2DOptions();
  if (!p) return op.wrong("no options");
  DEUTERON_TRY(op.int8(0));
  DEUTERON_TRY(op.int8_result());
  const Shape &x = op.shape(0), &w = op.shape(1), &r = op.y().shape;
  DEUTERON_TRY(op.convolved(0, 3, 2));
  if (w[0] != 1 || w[3] % x[3] != 0)
    return op.wrong("shape of the weights", to_text(w),
                    fmt::format("1, h, w, a multiple of {}", x[3]));
  DEUTERON_TRY(op.image_result(x[0], w[3]));
  Window v{
      w[1], w[2], p->stride_h(), p->stride_w(), p->dilation_h_factor(), p->dilation_w_factor()};
  Operation s;
  DEUTERON_TRY(op.sliding(*p, x, r, &v, &s));
  return op.push(depthwise_operation, Depthwise{v, w[3] / x[3]}, {op.in(0), op.in(1), op.in(2)}, s);
}

bool fold(Model& m, const TensorUses& uses, Operation& s) {
  return fold_pad(m, uses, s, s.as<Depthwise>().window, m.type(s.inputs[0]).quant.zero_point[0]);
}

Fault lower(Lowering& l, const Operation& s) {
  const auto& a = s.as<Depthwise>();
  const Shape &x = l.shape(s.inputs[0]), &y = l.shape(s.output);
  const Window& w = a.window;
  const auto weights = l.weights(s.inputs[1]);
  if (x[3] == 1 && a.multiplier > 1) {  // a convolution of one channel: its weights transposed
    std::vector<int8_t> turned(weights.size());
    const i64 taps = w.kernel_h * w.kernel_w, channels = y[3];
    for (i64 t = 0; t < taps; ++t)
      for (i64 o = 0; o < channels; ++o) turned[o * taps + t] = weights[t * channels + o];
    return lower_convolution(l, s, w, turned);
  }
  if (auto fault = l.window_limits(w, "depthwise_conv2d")) return fault;
  if (auto fault = l.products_limit(w, 8, "depthwise_conv2d")) return fault;
  const Quant& qx = l.type(s.inputs[0]).quant;
  const auto factors = convolution_factors(qx, l.type(s.inputs[1]).quant, s.y, y[3]);
  if (!factors) return l.bad_scale("depthwise_conv2d");
  DepthwiseCall c{};
  fill_image(c, l, s, w);
  c.multiplier = l.word(a.multiplier);
  c.x_zero = qx.zero_point[0], c.y_zero = s.y.zero_point[0];
  fill_bounds(c, s);
  const Kind kind = cost_of(l.machine(), Kind::kConv2DDepthwiseDense, c).total() <
                            cost_of(l.machine(), Kind::kConv2DDepthwiseV1, c).total()
                        ? Kind::kConv2DDepthwiseDense
                        : Kind::kConv2DDepthwiseV1;
  l.locate(c.x, s.inputs[0]);
  l.locate(c.y, s.output);
  l.constant(c.weights, pack_depthwise(weights, w.kernel_h, w.kernel_w, y[3]));
  l.constant(c.params, pack_parameters(l.bias(s.inputs[2]), *factors));
  l.push(kind, c);
  return std::nullopt;
}

constexpr TfliteRow kRows[] = {
    {tflite::BuiltinOperator::DEPTHWISE_CONV_2D, "depthwise_conv_2d", 2, 3, true, read},
};

}  // namespace

const OperationDef depthwise_operation = {
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

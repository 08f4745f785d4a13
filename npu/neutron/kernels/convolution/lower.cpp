// SPDX-License-Identifier: Apache-2.0
#include "npu/neutron/kernels/convolution/lower.h"

#include "npu/neutron/converter/pack_weights.h"
#include "npu/neutron/converter/scales.h"
#include "npu/neutron/kernels/convolution/cost.h"

namespace deuteron::neutron {

Fault fill_convolution(Lowering& l, const Operation& s, const Window& w, const char* rule,
                       ConvCall& c) {
  if (auto fault = l.window_limits(w, rule)) return fault;
  if (auto fault = l.products_limit(w, l.shape(s.inputs[0])[3], rule)) return fault;
  fill_image(c, l, s, w);
  c.out_c = l.word(l.shape(s.output)[3]);
  c.x_zero = l.type(s.inputs[0]).quant.zero_point[0], c.y_zero = s.y.zero_point[0];
  fill_bounds(c, s);
  return std::nullopt;
}

Kind kind_of_convolution(const Machine& machine, const Window& w, const ConvCall& c) {
  if (w.kernel_h == 1 && w.kernel_w == 1 && !w.padded()) return Kind::kConv2DPointwise;
  const auto cycles = [&](Kind kind) { return cost_of(machine, kind, c).total(); };
  if (w.dilation_w == 1 && cycles(Kind::kConv2DStandardV2) < cycles(Kind::kConv2DStandardV1))
    return Kind::kConv2DStandardV2;
  return Kind::kConv2DStandardV1;
}

Fault locate_operands(Lowering& l, const Operation& s, Kind kind, std::span<const int8_t> weights,
                      const char* rule, ConvCall& c) {
  const auto factors =
      convolution_factors(l.type(s.inputs[0]).quant, l.type(s.inputs[1]).quant, s.y, c.out_c);
  if (!factors) return l.bad_scale(rule);
  l.locate(c.x, s.inputs[0]);
  l.locate(c.y, s.output);
  const auto pack = kind == Kind::kConv2DStandardV2 ? pack_by_row : pack_by_channel;
  l.constant(c.weights, pack(weights, c.out_c, c.kernel_h, c.kernel_w, c.c));
  l.constant(c.params, pack_parameters(l.bias(s.inputs[2]), *factors));
  return std::nullopt;
}

Fault lower_convolution(Lowering& l, const Operation& s, const Window& w,
                        std::span<const int8_t> weights) {
  ConvCall c{};
  DEUTERON_TRY(fill_convolution(l, s, w, "conv2d", c));
  const Kind kind = kind_of_convolution(l.machine(), w, c);
  DEUTERON_TRY(locate_operands(l, s, kind, weights, "conv2d", c));
  l.push(kind, c);
  return std::nullopt;
}

}  // namespace deuteron::neutron

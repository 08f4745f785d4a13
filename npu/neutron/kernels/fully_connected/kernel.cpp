// SPDX-License-Identifier: Apache-2.0
// A fully connected layer is a pointwise convolution over a column of pixels.
#include "npu/neutron/kernels/convolution/kernel.h"
#include "npu/neutron/kernels/fully_connected/call.h"
#include "npu/neutron/machine/kernel.h"

namespace deuteron::neutron {
namespace {

ConvCall as_convolution(const FullyConnectedCall& a) {
  ConvCall c{};
  c.x = a.x, c.y = a.y, c.weights = a.weights, c.params = a.params;
  c.n = a.rows, c.h = 1, c.w = 1, c.c = a.in, c.x_pitch = a.in;
  c.kernel_h = c.kernel_w = c.stride_h = c.stride_w = c.dilation_h = c.dilation_w = 1;
  c.out_h = 1, c.out_w = 1, c.out_c = a.out, c.y_pitch = a.out;
  c.x_zero = a.x_zero, c.y_zero = a.y_zero, c.y_min = a.y_min, c.y_max = a.y_max;
  return c;
}

}  // namespace
}  // namespace deuteron::neutron

DEUTERON_NEUTRON_KERNEL(FullyConnected, convolve(Kind::kConv2DPointwise, as_convolution(a), memory))

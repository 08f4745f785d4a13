// SPDX-License-Identifier: Apache-2.0
// Depthwise convolution by the vectors of a host's processor: the bits of depthwise_conv2d_s8()
// (kernel.h).
#pragma once
#include "kernels/depthwise_conv2d/kernel.h"
#include "kernels/depthwise_conv2d/row_host.h"

namespace deuteron {

// A call whose weights stand in the blocks of a form (kernels/depthwise_conv2d/row_host.h).
struct HostDepthwiseConv2d {
  DepthwiseConv2dArgs args;
  const HostRowForm* form;
  const int8_t* blocks;
  bool is_plain;
};

// Bytes of the blocks, 64-aligned; 0 where the form does not serve the call: there are several
// output channels of an input channel, the zero point of x is not int8, a multiplier is negative,
// or the rows of a window have no room on the stack.
int64_t depthwise_conv2d_host_bytes(const DepthwiseConv2dArgs& a, const HostRowForm& form);
// Brings the weights into their blocks, once for all runs. `room`: that many bytes.
HostDepthwiseConv2d order_depthwise_conv2d(const DepthwiseConv2dArgs& a, const HostRowForm& form,
                                           const int8_t* weight, const int32_t* bias, void* room);
void run_depthwise_conv2d(const HostDepthwiseConv2d& conv, const int8_t* x, int8_t* y);

// The same at once, with blocks on the stack. False: the form does not serve the call, or the
// blocks have no room; nothing is written then.
bool depthwise_conv2d_s8_host(const DepthwiseConv2dArgs& a, const int8_t* x, const int8_t* weight,
                              const int32_t* bias, const HostRowForm& form, int8_t* y);

}  // namespace deuteron

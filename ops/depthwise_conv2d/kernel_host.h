// Depthwise convolution by the vectors of a host's processor: the bits of depthwise_conv2d_s8() (kernel.h).
#pragma once
#include "ops/depthwise_conv2d/kernel.h"
#include "ops/device/host_kernels.h"

namespace deuteron {

// False: there are several output channels of an input channel, the zero point of x is not int8, or rows and weights have no room on the
// stack (160 KB); nothing is written then.
using HostDepthwiseKernel = bool (*)(const DepthwiseConv2dArgs& a, const int8_t* x, const int8_t* weight, const int32_t* bias, int8_t* y);
const HostKernels<HostDepthwiseKernel>& host_depthwise_kernels();

}  // namespace deuteron

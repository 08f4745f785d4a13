// Packed convolution by the vectors of a host's processor: the bits of packed_conv2d_s8() (kernel.h).
#pragma once
#include "ops/dense/dot_host.h"
#include "ops/packed_conv2d/kernel.h"

namespace deuteron {

// False: filters are longer than windows have room on the stack, or have shifts; nothing is written then. `run`: one of
// host_panel_kernels().
template <Packing p>
bool packed_conv2d_s8_host(const PackedConv2dArgs& a, const int8_t* x, const int8_t* packed, HostPanelKernel run, int8_t* y);

}  // namespace deuteron

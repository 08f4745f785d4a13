// SPDX-License-Identifier: Apache-2.0
// Bytes of scratch that the stock kernel of cortex_m::quantized_avg_pool2d asks for on each
// instruction set: a row of sums on DSP. Source: CMSIS-NN dbf45dbf, arm_avgpool_s8_get_buffer_size;
// checked against every such node of the stock files.
#pragma once
#include "kernels/avg_pool2d/kernel.h"
#include "runtime/deuteron.h"

namespace deuteron {

inline int64_t avg_pool2d_scratch_bytes(const AvgPool2dArgs& a, Isa isa) {
  return isa == Isa::dsp ? int64_t{4} * a.channels : 0;
}

}  // namespace deuteron

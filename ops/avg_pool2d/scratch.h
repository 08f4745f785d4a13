// Bytes of scratch that the kernels of each instruction set ask for, exactly as stock firmware does: the compiler plans as many.
// Source: CMSIS-NN arm_avgpool_s8_get_buffer_size.
#pragma once
#include "runtime/deuteron.h"

namespace deuteron {

inline int32_t avg_pool2d_scratch_bytes(int32_t channels, Isa isa) { return isa == Isa::dsp ? 4 * channels : 0; }

}  // namespace deuteron

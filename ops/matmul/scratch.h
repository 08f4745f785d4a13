// SPDX-License-Identifier: Apache-2.0
// Bytes of scratch that the stock kernel of cortex_m::quantized_batch_matmul asks for on each
// instruction set: a sum for each row of the second operand on MVE. Source: CMSIS-NN dbf45dbf,
// arm_fully_connected_s8_get_buffer_size, as ExecuTorch 1.5 calls it.
#pragma once
#include "kernels/matmul/kernel.h"
#include "runtime/deuteron.h"

namespace deuteron {

inline int64_t matmul_scratch_bytes(const MatmulArgs& a, Isa isa) {
  return isa == Isa::mve ? int64_t{4} * a.columns : 0;
}

}  // namespace deuteron

// SPDX-License-Identifier: Apache-2.0
// Transposed convolution with packed weights for the DSP extension: its phases by the kernel of
// ops/packed_conv2d.
#include "kernels/conv_transpose2d/packed/kernel.h"

namespace deuteron {

void packed_conv_transpose2d_s8_dsp(const PackedConvTranspose2dArgs& a, const int8_t* x,
                                    const int8_t* packed, void* scratch, int32_t scratch_bytes,
                                    int8_t* y) {
  run_packed_phases(
      a, Packing::dsp_4x4, x, packed, y,
      [&](const PackedConv2dArgs& c, const int8_t* from, const int8_t* weights, int8_t* to) {
        packed_conv2d_s8_dsp(c, from, weights, scratch, scratch_bytes, to);
      });
}

}  // namespace deuteron

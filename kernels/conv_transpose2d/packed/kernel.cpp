// SPDX-License-Identifier: Apache-2.0
// Portable transposed convolution with packed weights: the reference, and what a host runs.
#include "kernels/conv_transpose2d/packed/kernel.h"

namespace deuteron {

template <Packing p>
void packed_conv_transpose2d_s8(const PackedConvTranspose2dArgs& a, const int8_t* x,
                                const int8_t* packed, int8_t* y) {
  run_packed_phases(a, p, x, packed, y, packed_conv2d_s8<p>);
}

template void packed_conv_transpose2d_s8<Packing::mve_4x16>(const PackedConvTranspose2dArgs&,
                                                            const int8_t*, const int8_t*, int8_t*);
template void packed_conv_transpose2d_s8<Packing::dsp_4x4>(const PackedConvTranspose2dArgs&,
                                                           const int8_t*, const int8_t*, int8_t*);

}  // namespace deuteron

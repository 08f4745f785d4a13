// SPDX-License-Identifier: Apache-2.0
// Portable convolution with weights of four bits. The reference, and what a host runs.
#include "kernels/conv2d/packed_w4/kernel.h"

#include "kernels/conv2d/packed_w4/parts.h"
#include "kernels/conv2d/packed_w4/unpack.h"

namespace deuteron {

// The kernel of int8 needs no scratch.
template <Packing p>
static void run_without_scratch(const PackedConv2dArgs& part, const int8_t* x,
                                const int8_t* weights, void*, int32_t, int8_t* y) {
  packed_conv2d_s8<p>(part, x, weights, y);
}

template <Packing p>
void packed_conv2d_w4_s8(const PackedConv2dArgs& a, const int8_t* x, const int8_t* packed,
                         void* scratch, int32_t scratch_bytes, int8_t* y) {
  run_in_parts<p, unpack_weights<p>, run_without_scratch<p>>(a, x, packed, scratch, scratch_bytes,
                                                             y);
}

template void packed_conv2d_w4_s8<Packing::mve_4x16>(const PackedConv2dArgs&, const int8_t*,
                                                     const int8_t*, void*, int32_t, int8_t*);
template void packed_conv2d_w4_s8<Packing::dsp_4x4>(const PackedConv2dArgs&, const int8_t*,
                                                    const int8_t*, void*, int32_t, int8_t*);

}  // namespace deuteron

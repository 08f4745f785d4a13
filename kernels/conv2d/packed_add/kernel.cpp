// SPDX-License-Identifier: Apache-2.0
// Portable convolution and addition: the portable kernels of both.
#include "kernels/conv2d/packed_add/kernel.h"

#include "kernels/conv2d/packed_add/rows.h"

namespace deuteron {

template <Packing p>
void packed_conv2d_add_s8(const PackedConv2dArgs& a, const LinearAddArgs& sum, const int8_t* x,
                          const int8_t* packed, const int8_t* other, int32_t rows, void* scratch,
                          int32_t scratch_bytes, int8_t* y) {
  const auto convolve = [](const PackedConv2dArgs& part, const int8_t* from, const int8_t* weights,
                           void*, int32_t,
                           int8_t* c) { packed_conv2d_s8<p>(part, from, weights, c); };
  run_added_rows({a, sum, x, packed, other, rows, scratch, scratch_bytes, y}, convolve,
                 a.has_shifts ? linear_add_q21_s8 : linear_add_s8);
}

template void packed_conv2d_add_s8<Packing::mve_4x16>(const PackedConv2dArgs&, const LinearAddArgs&,
                                                      const int8_t*, const int8_t*, const int8_t*,
                                                      int32_t, void*, int32_t, int8_t*);
template void packed_conv2d_add_s8<Packing::dsp_4x4>(const PackedConv2dArgs&, const LinearAddArgs&,
                                                     const int8_t*, const int8_t*, const int8_t*,
                                                     int32_t, void*, int32_t, int8_t*);
template void packed_conv2d_add_s8<Packing::scalar_1x4>(const PackedConv2dArgs&,
                                                        const LinearAddArgs&, const int8_t*,
                                                        const int8_t*, const int8_t*, int32_t,
                                                        void*, int32_t, int8_t*);

}  // namespace deuteron

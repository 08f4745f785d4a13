// SPDX-License-Identifier: Apache-2.0
// Portable fully connected layer behind a relu: reads the packed weights one by one where they
// stand.
#include "kernels/linear/packed/kernel.h"

#include "kernels/conv2d/packed/result.h"

namespace deuteron {

template <Packing p>
void packed_linear_s8(const PackedConv2dArgs& a, const int8_t* x, const int8_t* packed, int8_t* y) {
  const int64_t bytes = packed_tile_bytes(p, a.in_c);
  const int8_t* const shifts = packed + packed_bytes(p, a.out_c, a.in_c);
  const bool is_doubled = p == Packing::dsp_4x4 && !a.has_shifts;
  for (int32_t row = 0; row < a.n * a.out_h * a.out_w; ++row, x += a.in_c, y += a.y_step)
    for (int32_t t = 0; t < packed_tiles(a.out_c); ++t)
      for (int32_t i = 0; i < kPackedTile && i < a.out_c; ++i) {
        const int8_t* const tile = packed + t * bytes;
        const PackedNumbers n = packed_numbers<p>(tile, a.in_c, i);
        auto sum = static_cast<uint32_t>(n.first);
        for (int32_t e = 0; e < a.in_c; ++e)
          sum += static_cast<uint32_t>((x[e] - a.x_zero) *
                                       behind_relu<p>(packed_weight<p>(tile, a.in_c, i, e)));
        const int32_t shift = a.has_shifts ? packed_int(shifts + t * kShiftsBytes + i * 4) : 0;
        y[first_of_tile(a.out_c, t) + i] =
            packed_result(sum, int64_t{n.multiplier} * (is_doubled ? 1 : 2), shift, a.y_zero);
      }
}

template void packed_linear_s8<Packing::mve_4x16>(const PackedConv2dArgs&, const int8_t*,
                                                  const int8_t*, int8_t*);
template void packed_linear_s8<Packing::dsp_4x4>(const PackedConv2dArgs&, const int8_t*,
                                                 const int8_t*, int8_t*);

}  // namespace deuteron

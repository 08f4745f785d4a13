// SPDX-License-Identifier: Apache-2.0
// Fully connected layer behind a relu with packed weights, for the M-profile Vector Extension: x +
// 128 as uint8 meets weight + 128, which is 128 times the sum of x + 128 too much for every output
// alike. Blocks at the end of a row that are zero need no weights.
#include "kernels/conv2d/packed/results_mve.h"
#include "kernels/linear/packed/kernel.h"

namespace deuteron {
namespace {

// What a row has: blocks that are not left out, at least one, and the sum of its elements.
struct Active {
  int32_t blocks;
  uint32_t sum;
};
Active active_of(const int8_t* x, int32_t length) {
  Active a{1, 0};
  const int8x16_t zero = vdupq_n_s8(-128);
  for (int32_t left = length, block = 1; left > 0;
       left -= kPackedBlock, x += kPackedBlock, ++block) {
    const mve_pred16_t here = vctp8q(static_cast<uint32_t>(left));
    const uint32_t sum = a.sum;
    a.sum = vaddvaq_p_u8(sum, vreinterpretq_u8_s8(veorq_s8(vld1q_z_s8(x, here), zero)), here);
    if (a.sum != sum) a.blocks = block;
  }
  return a;
}

struct PackedActiveToS8 : PackedToS8 {
  int32_t left_out, more;

  MvePackedActive window(const PackedConv2dArgs& a, const int8_t* x, const int8_t* last,
                         const int8_t* packed, int8_t* y, int32_t blocks, int32_t pairs,
                         int32_t second, const int8_t* shifts) const {
    return {
        x,        last, packed, y, blocks, pairs, second, a.y_zero, a.has_shifts ? shifts : nullptr,
        left_out, more};
  }
  static void run(const MvePackedActive& w) { deuteron_packed_active_mve(&w); }
};

}  // namespace

void packed_linear_s8_mve_in_place(const PackedConv2dArgs& a, const int8_t* x, const int8_t* packed,
                                   int8_t* y) {
  for (int32_t rows = a.n * a.out_h * a.out_w; rows > 0; --rows, x += a.in_c, y += a.y_step) {
    const Active active = active_of(x, a.in_c);
    PackedFilters<PackedActiveToS8> f =
        filters_of(a, packed, PackedActiveToS8{{}, 0, static_cast<int32_t>(active.sum * -128U)});
    f.results.left_out = (f.blocks - active.blocks) * kPackedBlock * kPackedTile;
    f.blocks = active.blocks;
    if (f.results.left_out > 0) f.length = active.blocks * kPackedBlock;
    run_window(f, x, y);
  }
}

void packed_linear_s8_mve(const PackedConv2dArgs& a, const int8_t* x, const int8_t* packed, void*,
                          int32_t, int8_t* y) {
  packed_linear_s8_mve_in_place(a, x, packed, y);
}

}  // namespace deuteron

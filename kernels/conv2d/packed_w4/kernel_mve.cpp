// SPDX-License-Identifier: Apache-2.0
// Convolution with weights of four bits for the M-profile Vector Extension.
#include <arm_mve.h>

#include "kernels/conv2d/packed_w4/parts.h"

namespace deuteron {
namespace {

// A run of one filter: (nibble - 8) * factor. The bits of a byte are the same with signs and
// without.
void store_run(uint8x16_t nibbles, uint32_t factor, uint8_t* to) {
  vst1q_u8(to, vmlaq_n_u8(vdupq_n_u8(static_cast<uint8_t>(0u - kMiddle * factor)), nibbles,
                          static_cast<uint8_t>(factor)));
}

void unpack_mve(const W4Tile& t, int32_t, const int8_t* tile, int8_t* weights) {
  const auto* nibbles = reinterpret_cast<const uint8_t*>(tile + t.nibbles);
  const int8_t* factors = tile + t.factors;
  auto* to = reinterpret_cast<uint8_t*>(weights);
  const uint8x16_t low = vdupq_n_u8(15);
  for (int32_t left = t.weights_bytes; left > 0; left -= kPackedTile * kPackedBlock) {
    uint16_t four;
    std::memcpy(&four, factors, sizeof four);
    const uint8x16_t first = vld1q_u8(nibbles), second = vld1q_u8(nibbles + kPackedBlock);
    store_run(vandq_u8(first, low), (four & 15u) + 1, to);
    store_run(vshrq_n_u8(first, 4), (four >> 4 & 15u) + 1, to + kPackedBlock);
    store_run(vandq_u8(second, low), (four >> 8 & 15u) + 1, to + 2 * kPackedBlock);
    store_run(vshrq_n_u8(second, 4), (four >> 12) + 1u, to + 3 * kPackedBlock);
    factors += sizeof four, nibbles += 2 * kPackedBlock, to += kPackedTile * kPackedBlock;
  }
}

}  // namespace

void packed_conv2d_w4_s8_mve(const PackedConv2dArgs& a, const int8_t* x, const int8_t* packed,
                             void* scratch, int32_t scratch_bytes, int8_t* y) {
  run_in_parts<Packing::mve_4x16, unpack_mve, packed_conv2d_s8_mve>(a, x, packed, scratch,
                                                                    scratch_bytes, y);
}

}  // namespace deuteron

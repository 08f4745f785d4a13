// SPDX-License-Identifier: Apache-2.0
// Convolution with weights of four bits for the M-profile Vector Extension.
#include <arm_mve.h>

#include "kernels/conv2d/packed_w4/parts.h"
#include "kernels/conv2d/packed_w4/sums_mve.h"
#include "kernels/integer/requantize_mve.h"

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

// Sums to results, of a tile whose multipliers are given and whose shifts, if any, are of one kind
// (kernels/dense/packed_mve.S).
int32x4_t scaled(int32x4_t v, int32x4_t multiplier, const int8_t* shifts) {
  if (shifts == nullptr) return vqrdmulhq_s32(v, multiplier);
  int32_t first;
  std::memcpy(&first, shifts, sizeof first);
  const int32x4_t shift = vreinterpretq_s32_s8(vld1q_s8(shifts));
  if (first <= 0) return requantize_mve(v, multiplier, shift);
  return vrshlq_s32(vqdmulhq_s32(v, multiplier), shift);
}

// One window, which lies in x as it is wanted: weights become int8 where they are met.
void run_alone(const PackedConv2dArgs& a, const int8_t* x, const int8_t* packed, int8_t* window,
               int8_t* y) {
  const int32_t length = a.length(), tiles = packed_tiles(a.out_c);
  const W4Tile t = w4_tile(Packing::mve_4x16, length, a.has_shifts);
  const int32_t blocks = t.weights_bytes / (kPackedTile * kPackedBlock);
  std::memcpy(window, x, static_cast<size_t>(length));
  std::memset(window + length, 0, static_cast<size_t>(blocks * kPackedBlock - length));
  for (int32_t i = 0; i < tiles; ++i, packed += t.bytes) {
    int32_t sums[kPackedTile];
    deuteron_w4_sums_mve(window, packed + t.nibbles, packed + t.factors, blocks, sums);
    const int32x4_t first = vreinterpretq_s32_s8(vld1q_s8(packed)),
                    multiplier = vreinterpretq_s32_s8(vld1q_s8(packed + 16));
    const int32x4_t v = scaled(vaddq_s32(vld1q_s32(sums), first), multiplier,
                               a.has_shifts ? packed + kTileNumbers : nullptr);
    const int16x8_t results =
        vqaddq_n_s16(vqmovnbq_s32(vdupq_n_s16(0), v), static_cast<int16_t>(a.y_zero));
    const int8x16_t bytes = vqmovnbq_s16(vdupq_n_s8(0), results);
    vstrbq_p_s32(y + first_of_tile(a.out_c, i), vreinterpretq_s32_s8(bytes),
                 vctp32q(static_cast<uint32_t>(a.out_c)));
  }
}

}  // namespace

void packed_conv2d_w4_s8_mve(const PackedConv2dArgs& a, const int8_t* x, const int8_t* packed,
                             void* scratch, int32_t scratch_bytes, int8_t* y) {
  if (packed_conv2d_is_alone(a)) return run_alone(a, x, packed, static_cast<int8_t*>(scratch), y);
  run_in_parts<Packing::mve_4x16, unpack_mve, packed_conv2d_s8_mve>(a, x, packed, scratch,
                                                                    scratch_bytes, y);
}

}  // namespace deuteron

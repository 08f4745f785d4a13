// SPDX-License-Identifier: Apache-2.0
// Convolution with weights of four bits for the DSP extension.
#include <arm_acle.h>

#include "kernels/conv2d/packed_w4/parts.h"

namespace deuteron {
namespace {

// The factors of two filters, whose weights stand side by side in halfwords.
struct PairFactors {
  uint32_t even, odd, middle;  // middle: what nibbles of 8 come to, in both halfwords
};
PairFactors pair_factors(uint32_t bits) {
  const uint32_t even = (bits & 15) + 1, odd = (bits >> 4 & 15) + 1;
  return {even, odd, (kMiddle * even + 256 * kMiddle * odd) * 0x10001};
}

// Two halfwords of nibbles, a byte each, to those of weights: products of up to 15 * 16 stay within
// their bytes, and a halfword of 256 * odd + even is the difference of two of them.
uint32_t weights_of(uint32_t nibbles, const PairFactors& f) {
  const uint32_t products = (nibbles & 0x00ff00ff) * f.even + (nibbles & 0xff00ff00) * f.odd;
  return __usub16(products, f.middle);
}

constexpr uint32_t kLow = 0x0f0f0f0f;  // halves of bytes
uint32_t load_word(const int8_t* from) {
  uint32_t word;
  std::memcpy(&word, from, sizeof word);
  return word;
}
void store_word(uint32_t word, int8_t* to) { std::memcpy(to, &word, sizeof word); }

void unpack_dsp(const W4Tile& t, int32_t, const int8_t* tile, int8_t* to) {
  constexpr int32_t quads_of_a_run = kRun / kPackedQuad, quad_bytes = kPackedTile * kPackedQuad;
  const int8_t *nibbles = tile + t.nibbles, *factors = tile + t.factors;
  for (int32_t left = t.weights_bytes / quad_bytes; left > 0;
       left -= quads_of_a_run, factors += 2) {
    const PairFactors first = pair_factors(static_cast<uint8_t>(factors[0])),
                      second = pair_factors(static_cast<uint8_t>(factors[1]));
    for (int32_t quad = left < quads_of_a_run ? left : quads_of_a_run; quad > 0;
         --quad, nibbles += 8, to += quad_bytes) {
      const uint32_t pair0 = load_word(nibbles), pair1 = load_word(nibbles + 4);
      store_word(weights_of(pair0 & kLow, first), to);
      store_word(weights_of(pair1 & kLow, second), to + 4);
      store_word(weights_of(pair0 >> 4 & kLow, first), to + 8);
      store_word(weights_of(pair1 >> 4 & kLow, second), to + 12);
    }
  }
}

}  // namespace

void packed_conv2d_w4_s8_dsp(const PackedConv2dArgs& a, const int8_t* x, const int8_t* packed,
                             void* scratch, int32_t scratch_bytes, int8_t* y) {
  run_in_parts<Packing::dsp_4x4, unpack_dsp, packed_conv2d_s8_dsp>(a, x, packed, scratch,
                                                                   scratch_bytes, y);
}

}  // namespace deuteron

// SPDX-License-Identifier: Apache-2.0
// Convolution with weights of four bits for the DSP extension.
#include <arm_acle.h>

#include "kernels/conv2d/packed/windows_dsp.h"
#include "kernels/conv2d/packed_w4/parts.h"
#include "kernels/integer/requantize_words.h"

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
int32_t number_at(const int8_t* from) { return static_cast<int32_t>(load_word(from)); }
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

// The sums of two filters over a run: 256 * A + B, and B.
struct PairSums {
  int32_t both, low;
};
// Two elements of a window against the nibbles of two filters, a byte each.
[[gnu::always_inline]] inline void meet(PairSums& s, uint32_t elements, uint32_t nibbles) {
  s.both = __smlad(elements, nibbles, s.both);
  s.low = __smlad(elements, __uxtb16(nibbles), s.low);
}
// A quad of a window, and what four filters have for it. low: kLow, in a register.
[[gnu::always_inline]] inline void meet_quad(PairSums& first, PairSums& second,
                                             const uint32_t* window, const int8_t* nibbles,
                                             uint32_t low) {
  const uint32_t pair0 = load_word(nibbles), pair1 = load_word(nibbles + 4);
  meet(first, window[0], pair0 & low);
  meet(first, window[1], pair0 >> 4 & low);
  meet(second, window[0], pair1 & low);
  meet(second, window[1], pair1 >> 4 & low);
}

// What a run begins with: nibbles stand for what is 8 less.
int32_t less_middle(const uint32_t* window, int32_t words) {
  int32_t sum = 0;
  for (int32_t i = 0; i < words; ++i) sum = __smlad(window[i], 0x10001, sum);
  return -kMiddle * sum;
}

// A sum to a result; a multiplier is doubled where there are no shifts (packed_dsp.S).
int8_t result_of(int32_t sum, int32_t multiplier, const int8_t* shift, int32_t y_zero) {
  if (shift == nullptr)
    return static_cast<int8_t>(saturate_s8(multiply_high_rounded(sum, multiplier) + y_zero));
  int32_t by;
  std::memcpy(&by, shift, sizeof by);
  const int32_t cut = static_cast<int32_t>(int64_t{2 * sum} * multiplier >> 32),
                v = by > 0 ? cut : multiply_high_rounded(2 * sum, multiplier),
                less = v + ((v & by) >> 31), right = -by & 31;
  const int32_t half = right > 0 ? less >> (right - 1) & 1 : 0;
  return static_cast<int8_t>(saturate_s8((less >> right) + half + y_zero));
}

// One window, which lies in x as it is wanted, widened: a run's sums times its factors are added
// up.
void run_w4_alone(const PackedConv2dArgs& a, const int8_t* x, const int8_t* packed, void* scratch,
                  int8_t* y) {
  constexpr int32_t quads_of_a_run = kRun / kPackedQuad;
  const W4Tile t = w4_tile(Packing::dsp_4x4, a.length(), a.has_shifts);
  const int32_t quads = quads_of(a), tiles = packed_tiles(a.out_c);
  widen_window(a, x, 0, static_cast<int16_t*>(scratch));
  const auto* const window = static_cast<const uint32_t*>(scratch);
  auto* const begins = static_cast<int32_t*>(scratch) + 2 * quads;  // of runs
  for (int32_t q = 0; q < quads; q += quads_of_a_run)
    begins[q / quads_of_a_run] =
        less_middle(window + 2 * q, 2 * (quads - q < quads_of_a_run ? quads - q : quads_of_a_run));
  uint32_t low = kLow;
  asm("" : "+r"(low));  // else each AND has it, and shifts stand apart
  for (int32_t i = 0; i < tiles; ++i, packed += t.bytes) {
    const int8_t *nibbles = packed + t.nibbles, *factors = packed + t.factors;
    const uint32_t* from = window;
    const int32_t* begin = begins;
    int32_t s0 = 0, s1 = 0, s2 = 0, s3 = 0;
    for (int32_t left = quads; left > 0; left -= quads_of_a_run, factors += 2, ++begin) {
      PairSums first{*begin * 257, *begin}, second = first;
      if (left >= quads_of_a_run) {
#pragma GCC unroll 4
        for (int32_t q = 0; q < quads_of_a_run; ++q, nibbles += 8, from += 2)
          meet_quad(first, second, from, nibbles, low);
      } else {
#pragma GCC unroll 1
        for (int32_t q = 0; q < left; ++q, nibbles += 8, from += 2)
          meet_quad(first, second, from, nibbles, low);
      }
      uint16_t four;
      std::memcpy(&four, factors, sizeof four);
      s0 += first.low * ((four & 15) + 1);
      s1 += ((first.both - first.low) >> 8) * ((four >> 4 & 15) + 1);
      s2 += second.low * ((four >> 8 & 15) + 1);
      s3 += ((second.both - second.low) >> 8) * ((four >> 12) + 1);
    }
    const int32_t sums[] = {s0, s1, s2, s3};
    int8_t out[kPackedTile];
    for (int32_t f = 0; f < kPackedTile; ++f) {  // PackedNumbers: kernels/dense/packing.h
      const int8_t *const pair = packed + 8 + f / 2 * 12, *const odd = f % 2 == 1 ? pair : nullptr;
      const int8_t* const shift = a.has_shifts ? packed + kTileNumbers + 4 * f : nullptr;
      out[f] = result_of(sums[f] + number_at(odd ? odd : packed + f / 2 * 4),
                         number_at(pair + (odd ? 4 : 8)), shift, a.y_zero);
    }
    const int32_t count = a.out_c < kPackedTile ? a.out_c : kPackedTile;
    std::memcpy(y + first_of_tile(a.out_c, i), out, static_cast<size_t>(count));
  }
}

}  // namespace

void packed_conv2d_w4_s8_dsp(const PackedConv2dArgs& a, const int8_t* x, const int8_t* packed,
                             void* scratch, int32_t scratch_bytes, int8_t* y) {
  if (packed_conv2d_is_alone(a)) return run_w4_alone(a, x, packed, scratch, y);
  run_in_parts<Packing::dsp_4x4, unpack_dsp, packed_conv2d_s8_dsp>(a, x, packed, scratch,
                                                                   scratch_bytes, y);
}

}  // namespace deuteron

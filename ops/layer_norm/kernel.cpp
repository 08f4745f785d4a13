// Portable normalization of rows.
#include "ops/layer_norm/kernel.h"

namespace deuteron {
namespace {

// floor(sqrt(v)), one bit of the root after the other.
uint32_t root_of(uint64_t v) {
  uint64_t root = 0, bit = uint64_t{1} << 62;
  for (; bit != 0; bit >>= 2) {
    const bool fits = v >= root + bit;
    if (fits) v -= root + bit;
    root = (root >> 1) + (fits ? bit : 0);
  }
  return static_cast<uint32_t>(root);
}

int64_t rounded(int64_t v, int32_t shift) { return (v + (int64_t{1} << (shift - 1))) >> shift; }

// rounded(v, shift) where v < 2^62 and shift is 32 or more: of a core's two words only the upper one is shifted.
int32_t rounded_top(int64_t v, int32_t shift) { return static_cast<int32_t>((v + (int64_t{1} << (shift - 1))) >> 32) >> (shift - 32); }

}  // namespace

void layer_norm_s8(const LayerNormArgs& a, const int8_t* x, const int32_t* weight, const int32_t* bias, int8_t* y) {
  for (int32_t r = 0; r < a.rows; ++r, x += a.columns, y += a.columns) {
    int32_t sum = 0, squares = 0;
    for (int32_t i = 0; i < a.columns; ++i) {
      const int32_t q = x[i] - a.x_zero;
      sum += q;
      squares += q * q;
    }
    if (!a.centered) sum = 0;
    uint64_t variance = static_cast<uint64_t>(int64_t{a.columns} * squares - int64_t{sum} * sum) << a.epsilon_bits;
    variance += static_cast<uint64_t>(a.epsilon);
    int32_t factor = 0, left = 0;
    if (variance != 0) {
      while (variance < uint64_t{1} << 60) variance <<= 2, left += 2;
      const uint64_t quotient = (uint64_t{1} << 61) / root_of(variance);
      factor = static_cast<int32_t>(quotient < uint64_t{1} << 31 ? quotient : (uint64_t{1} << 31) - 1);
    }
    const int32_t down = 41 - (a.epsilon_bits + left) / 2, up = 32 - down;
    for (int32_t i = 0; i < a.columns; ++i) {
      const int32_t from_mean = a.columns * (x[i] - a.x_zero) - sum;  // |from_mean| * factor < 2^(28 + down), so `up` bits more are there
      const int32_t deviation = up >= 0 ? rounded_top(int64_t{from_mean * (1 << up)} * factor, 32)
                                        : static_cast<int32_t>(rounded(int64_t{from_mean} * factor, down));
      const int64_t steps = int64_t{deviation} * weight[i] + int64_t{bias[i]} * (1 << 20);
      const int64_t v = a.y_zero + (a.shift >= 12 ? rounded_top(steps, 20 + a.shift) : rounded(steps, 20 + a.shift));
      y[i] = static_cast<int8_t>(v < -128 ? -128 : v > 127 ? 127 : v);
    }
  }
}

}  // namespace deuteron

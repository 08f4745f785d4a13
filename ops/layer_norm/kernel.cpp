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
    uint32_t factor = 0;
    int32_t left = 0;
    if (variance != 0) {
      while (variance < uint64_t{1} << 60) variance <<= 2, left += 2;
      factor = static_cast<uint32_t>((uint64_t{1} << 61) / root_of(variance));
    }
    const int32_t down = 41 - (a.epsilon_bits + left) / 2;
    for (int32_t i = 0; i < a.columns; ++i) {
      const int64_t deviation = rounded(int64_t{a.columns * (x[i] - a.x_zero) - sum} * factor, down);
      const int64_t v = a.y_zero + rounded(deviation * weight[i] + int64_t{bias[i]} * (1 << 20), 20 + a.shift);
      y[i] = static_cast<int8_t>(v < -128 ? -128 : v > 127 ? 127 : v);
    }
  }
}

}  // namespace deuteron

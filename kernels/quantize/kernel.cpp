// SPDX-License-Identifier: Apache-2.0
// Portable quantization: clamped before it is rounded, so that no float leaves the range of int32.
#include "kernels/quantize/kernel.h"

#include "kernels/common/host_clones.h"

namespace deuteron {
namespace {

// In 2^23..2^24 float32 has steps of one, so adding this rounds to an integer as the addition does:
// to nearest, ties to even. Holds for |v| <= 2^22; the bounds are within 2^17.
constexpr float kRounder = 12582912.0f;  // 1.5 * 2^23

template <class T>
void quantize(const QuantizeArgs& a, const float* x, T* y) {
  const float low = static_cast<float>(a.low - a.zero), high = static_cast<float>(a.high - a.zero),
              reciprocal = a.reciprocal;
  const int32_t zero = a.zero;  // which a store to y might change, for all that a compiler knows
  for (int32_t i = 0, count = a.count; i < count; ++i) {
    float v = x[i] * reciprocal;
    v = v == v ? v : 0.0f;
    v = v < low ? low : v;
    v = v > high ? high : v;
    y[i] = static_cast<T>(static_cast<int32_t>((v + kRounder) - kRounder) + zero);
  }
}

// What the vector unit reads: it has no floats below the normal ones.
double normal(float v) { return v < 0x1p-126f && v > -0x1p-126f ? 0.0 : static_cast<double>(v); }

}  // namespace

// The product of two float32 is exact in double, and rounds to an integer when a number is added at
// which double has steps of one.
DEUTERON_HOST_CLONES void quantize_s8_as_mve(const QuantizeArgs& a, const float* x, int8_t* y) {
  constexpr double kDoubleRounder = 0x1.8p52;
  const double low = a.low - a.zero, high = a.high - a.zero, reciprocal = normal(a.reciprocal);
  const int32_t fused = a.count / kQuantizeBlock * kQuantizeBlock, zero = a.zero;
  for (int32_t i = 0; i < fused; ++i) {
    double v = normal(x[i]) * reciprocal;
    v = v == v ? v : 0.0;
    v = v < low ? low : v;
    v = v > high ? high : v;
    y[i] = static_cast<int8_t>(static_cast<int32_t>((v + kDoubleRounder) - kDoubleRounder) + zero);
  }
  QuantizeArgs rest = a;
  rest.count -= fused;
  quantize_s8(rest, x + fused, y + fused);
}

DEUTERON_HOST_CLONES void quantize_s8(const QuantizeArgs& a, const float* x, int8_t* y) {
  quantize(a, x, y);
}
void quantize_s16(const QuantizeArgs& a, const float* x, int16_t* y) { quantize(a, x, y); }

}  // namespace deuteron

// Portable quantization: clamped before it is rounded, so that no float leaves the range of int32.
#include "ops/quantize/kernel.h"

namespace deuteron {
namespace {

// In 2^23..2^24 float32 has steps of one, so adding this rounds to an integer as the addition does: to nearest, ties to even. Holds for
// |v| <= 2^22; the bounds are within 2^17.
constexpr float kRounder = 12582912.0f;  // 1.5 * 2^23

template <class T>
void quantize(const QuantizeArgs& a, const float* x, T* y) {
  const float low = static_cast<float>(a.low - a.zero), high = static_cast<float>(a.high - a.zero);
  for (int32_t i = 0; i < a.count; ++i) {
    float v = x[i] * a.reciprocal;
    v = v == v ? v : 0.0f;
    v = v < low ? low : v;
    v = v > high ? high : v;
    y[i] = static_cast<T>(static_cast<int32_t>((v + kRounder) - kRounder) + a.zero);
  }
}

}  // namespace

void quantize_s8(const QuantizeArgs& a, const float* x, int8_t* y) { quantize(a, x, y); }
void quantize_s16(const QuantizeArgs& a, const float* x, int16_t* y) { quantize(a, x, y); }

}  // namespace deuteron

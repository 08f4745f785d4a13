// Quantization for cores with the DSP extension and single-precision floats: VCVTR rounds as the core is set, to nearest with ties to even,
// saturates, and makes 0 of a NaN, which is what kernel.h asks for; rounding before the bounds are applied changes nothing, since they are
// whole numbers.
#include "ops/quantize/kernel.h"

#if defined(__ARM_FP)
#include <arm_acle.h>

#include "ops/integer/requantize.h"

namespace deuteron {
namespace {

// The arguments by value: for all the compiler knows, y might lie over them.
template <bool has_bounds>
void quantize(const QuantizeArgs a, const float* x, int8_t* y) {
#pragma GCC unroll 2
  for (int32_t i = 0; i < a.count; ++i) {
    float v = x[i] * a.reciprocal;
    asm("vcvtr.s32.f32 %0, %0" : "+t"(v));
    int32_t rounded;
    asm("vmov %0, %1" : "=r"(rounded) : "t"(v));
    y[i] = static_cast<int8_t>(has_bounds ? clamp_to(__qadd(rounded, a.zero), a.low, a.high) : __ssat(__qadd(rounded, a.zero), 8));
  }
}

}  // namespace

void quantize_s8_dsp(const QuantizeArgs& a, const float* x, int8_t* y) {
  (a.low == -128 && a.high == 127 ? quantize<false> : quantize<true>)(a, x, y);
}

}  // namespace deuteron
#endif

// SPDX-License-Identifier: Apache-2.0
// Quantization for cores with the DSP extension and single-precision floats: VCVTR rounds as the
// core is set, to nearest with ties to even, saturates, and makes 0 of a NaN, which is what
// kernel.h asks for; rounding before the bounds are applied changes nothing, since they are whole
// numbers. Four elements a turn where the bounds are those of int8: gcc 12 takes 10 instructions an
// element, not 6.
#include "kernels/quantize/kernel.h"

#if defined(__ARM_FP)
#include <arm_acle.h>

#include "kernels/integer/requantize.h"

namespace deuteron {
namespace {

void quantize_fours(const QuantizeArgs& a, int32_t fours, const float*& x, int8_t*& y) {
  int32_t v0, v1, v2, v3;
  asm volatile(
      "1:\n"
      "  vldmia %[x]!, {s0-s3}\n"
      "  vmul.f32 s0, s0, %[reciprocal]\n"
      "  vmul.f32 s1, s1, %[reciprocal]\n"
      "  vmul.f32 s2, s2, %[reciprocal]\n"
      "  vmul.f32 s3, s3, %[reciprocal]\n"
      "  vcvtr.s32.f32 s0, s0\n"
      "  vcvtr.s32.f32 s1, s1\n"
      "  vcvtr.s32.f32 s2, s2\n"
      "  vcvtr.s32.f32 s3, s3\n"
      "  vmov %[v0], %[v1], s0, s1\n"
      "  vmov %[v2], %[v3], s2, s3\n"
      "  qadd %[v0], %[v0], %[zero]\n"
      "  qadd %[v1], %[v1], %[zero]\n"
      "  qadd %[v2], %[v2], %[zero]\n"
      "  qadd %[v3], %[v3], %[zero]\n"
      "  ssat %[v0], #8, %[v0]\n"
      "  ssat %[v1], #8, %[v1]\n"
      "  ssat %[v2], #8, %[v2]\n"
      "  ssat %[v3], #8, %[v3]\n"
      "  subs %[fours], #1\n"
      "  strb %[v0], [%[y]], #1\n"
      "  strb %[v1], [%[y]], #1\n"
      "  strb %[v2], [%[y]], #1\n"
      "  strb %[v3], [%[y]], #1\n"
      "  bne 1b\n"
      : [x] "+r"(x), [y] "+r"(y), [fours] "+r"(fours), [v0] "=&r"(v0), [v1] "=&r"(v1),
        [v2] "=&r"(v2), [v3] "=&r"(v3)
      : [reciprocal] "t"(a.reciprocal), [zero] "r"(a.zero)
      : "s0", "s1", "s2", "s3", "cc", "memory");
}

}  // namespace

void quantize_s8_dsp(const QuantizeArgs& args, const float* x, int8_t* y) {
  const QuantizeArgs a = args;  // for all the compiler knows, y might lie over the arguments
  const int32_t fours = a.low == -128 && a.high == 127 ? a.count / 4 : 0;
  if (fours > 0) quantize_fours(a, fours, x, y);
  for (int32_t i = 4 * fours; i < a.count; ++i) {
    float v = *x++ * a.reciprocal;
    asm("vcvtr.s32.f32 %0, %0" : "+t"(v));
    int32_t rounded;
    asm("vmov %0, %1" : "=r"(rounded) : "t"(v));
    *y++ = static_cast<int8_t>(clamp_to(__qadd(rounded, a.zero), a.low, a.high));
  }
}

}  // namespace deuteron
#endif

// SPDX-License-Identifier: Apache-2.0
// Dequantization for cores with the DSP extension and single-precision floats: four elements a
// turn. Of a word of them SXTAB makes one less the zero point, which gcc 12 does in two
// instructions.
#include "kernels/dequantize/kernel.h"

#if defined(__ARM_FP)
namespace deuteron {
namespace {

void dequantize_fours(const DequantizeArgs& a, int32_t fours, const int8_t*& x, float*& y) {
  int32_t v0, v1, v2, v3;
  asm volatile(
      "1:\n"
      "  ldr %[v3], [%[x]], #4\n"
      "  sxtab %[v0], %[offset], %[v3]\n"
      "  sxtab %[v1], %[offset], %[v3], ror #8\n"
      "  sxtab %[v2], %[offset], %[v3], ror #16\n"
      "  sxtab %[v3], %[offset], %[v3], ror #24\n"
      "  vmov s4, s5, %[v0], %[v1]\n"
      "  vmov s6, s7, %[v2], %[v3]\n"
      "  vcvt.f32.s32 s4, s4\n"
      "  vcvt.f32.s32 s5, s5\n"
      "  vcvt.f32.s32 s6, s6\n"
      "  vcvt.f32.s32 s7, s7\n"
      "  vmul.f32 s4, s4, %[scale]\n"
      "  vmul.f32 s5, s5, %[scale]\n"
      "  vmul.f32 s6, s6, %[scale]\n"
      "  vmul.f32 s7, s7, %[scale]\n"
      "  subs %[fours], #1\n"
      "  vstmia %[y]!, {s4-s7}\n"
      "  bne 1b\n"
      : [x] "+r"(x), [y] "+r"(y), [fours] "+r"(fours), [v0] "=&r"(v0), [v1] "=&r"(v1),
        [v2] "=&r"(v2), [v3] "=&r"(v3)
      : [scale] "t"(a.scale), [offset] "r"(-a.zero)
      : "s4", "s5", "s6", "s7", "cc", "memory");
}

}  // namespace

void dequantize_s8_dsp(const DequantizeArgs& args, const int8_t* x, float* y) {
  const DequantizeArgs a = args;  // for all the compiler knows, y might lie over the arguments
  const int32_t fours = a.count / 4;
  if (fours > 0) dequantize_fours(a, fours, x, y);
#pragma GCC unroll 1
  for (int32_t i = a.count % 4; i > 0; --i) *y++ = static_cast<float>(*x++ - a.zero) * a.scale;
}

}  // namespace deuteron
#endif

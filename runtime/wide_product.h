// SPDX-License-Identifier: Apache-2.0
// Products that need not fit 32 bits, of counts that are small as a rule. Thumb-1 multiplies 32
// bits to 32; the function with which compilers multiply 64 there takes forty instructions, and
// loading a program would spend a sixth of its time in it.
#pragma once
#include <cstdint>

namespace deuteron {

#if defined(__ARM_ARCH_ISA_THUMB) && __ARM_ARCH_ISA_THUMB == 1
[[gnu::noinline]] constexpr int64_t wide_product(int64_t a, int64_t b) {
  if (static_cast<uint64_t>(a | b) >> 16 == 0)
    return static_cast<uint32_t>(a) * static_cast<uint32_t>(b);
  return a * b;
}
#else
constexpr int64_t wide_product(int64_t a, int64_t b) { return a * b; }
#endif

}  // namespace deuteron

// SPDX-License-Identifier: Apache-2.0
// Which instructions the compiler may use in this file: what decides between a kernel and the
// portable one. Macros: Arm C Language Extensions, sections "M-profile Vector Extension" and "DSP
// instructions". kernel_scalar.cpp is for cores without either. DEUTERON_SCALAR is the words to
// which such a core multiplies: 2, or 1 with Thumb-1, which also has eight registers for most
// instructions. DEUTERON_UNALIGNED: it loads words from any address.
#pragma once

namespace deuteron {

#if defined(__ARM_ARCH_PROFILE) && __ARM_ARCH_PROFILE == 'M'
#define DEUTERON_MICROCONTROLLER 1
#if defined(__ARM_FEATURE_MVE)
#define DEUTERON_MVE __ARM_FEATURE_MVE
#elif defined(__ARM_FEATURE_DSP)
#define DEUTERON_DSP 1
#else
#define DEUTERON_SCALAR __ARM_ARCH_ISA_THUMB  // 2: Cortex-M3; 1: Cortex-M0, M0+, M23
#endif
#if defined(__ARM_FEATURE_UNALIGNED)
#define DEUTERON_UNALIGNED 1
#endif
#if defined(__ARM_FP)
#define DEUTERON_FLOAT (__ARM_FP & 4)
#endif
#endif

#if defined(__riscv) && __riscv_xlen == 32
#define DEUTERON_MICROCONTROLLER 1
#define DEUTERON_SCALAR 2
#endif

#if defined(DEUTERON_MICROCONTROLLER)
inline constexpr bool kIsMicrocontroller = true;  // runs programs for its own instruction set only
#else
inline constexpr bool kIsMicrocontroller = false;
#endif

#if defined(DEUTERON_MVE)
inline constexpr bool kHasMve = true, kHasMveFloat = (DEUTERON_MVE & 2) != 0;
#else
inline constexpr bool kHasMve = false, kHasMveFloat = false;
#endif
#if defined(DEUTERON_DSP) && defined(DEUTERON_FLOAT)
inline constexpr bool kHasDsp = true, kHasDspFloat = DEUTERON_FLOAT != 0;
#elif defined(DEUTERON_DSP)
inline constexpr bool kHasDsp = true, kHasDspFloat = false;
#else
inline constexpr bool kHasDsp = false, kHasDspFloat = false;
#endif
#if defined(DEUTERON_SCALAR) && (defined(__ARM_FP) || defined(__riscv_flen))
inline constexpr bool kHasScalar = true, kHasSoftFloat = false;
#elif defined(DEUTERON_SCALAR)
inline constexpr bool kHasScalar = true, kHasSoftFloat = true;
#else
inline constexpr bool kHasScalar = false, kHasSoftFloat = false;
#endif

}  // namespace deuteron

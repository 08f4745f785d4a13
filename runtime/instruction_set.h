// Which instructions the compiler may use in this file: what decides between a kernel and the portable one. Macros: Arm C Language
// Extensions, sections "M-profile Vector Extension" and "DSP instructions".
#pragma once

namespace deuteron {

#if defined(__ARM_ARCH_PROFILE) && __ARM_ARCH_PROFILE == 'M' && defined(__ARM_FEATURE_MVE)
inline constexpr bool kHasMve = true, kHasMveFloat = (__ARM_FEATURE_MVE & 2) != 0, kHasDsp = false;
#elif defined(__ARM_ARCH_PROFILE) && __ARM_ARCH_PROFILE == 'M' && defined(__ARM_FEATURE_DSP)
inline constexpr bool kHasMve = false, kHasMveFloat = false, kHasDsp = true;
#else
inline constexpr bool kHasMve = false, kHasMveFloat = false, kHasDsp = false;
#endif

}  // namespace deuteron

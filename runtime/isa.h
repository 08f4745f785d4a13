// Instruction sets: whose conventions a program follows, and which ones this build knows.
#pragma once
#include <cstdint>

namespace deuteron {

// The instruction set whose conventions a program follows (scratch sizes, folded biases, how floats are rounded to int8). Files of Deuteron
// say it, stock files do not.
enum class Isa : uint8_t { scalar, dsp, mve };
const char* name_of(Isa);

// Of this build: its own on Arm; on a host the one without extensions. A program that does not say its own is taken for one of these, as
// stock firmware does. Macros: Arm C Language Extensions, sections "M-profile Vector Extension" and "DSP instructions".
#if defined(__ARM_ARCH_PROFILE) && __ARM_ARCH_PROFILE == 'M'
inline constexpr bool kIsHost = false;
#if defined(__ARM_FEATURE_MVE)
inline constexpr Isa kBuildIsa = Isa::mve;
#elif defined(__ARM_FEATURE_DSP)
inline constexpr Isa kBuildIsa = Isa::dsp;
#else
inline constexpr Isa kBuildIsa = Isa::scalar;
#endif
#else
inline constexpr bool kIsHost = true;
inline constexpr Isa kBuildIsa = Isa::scalar;
#endif

// What this build accepts: its own instruction set on Arm, every one on a host (bit i: Isa i).
uint8_t accepted_isas();

}  // namespace deuteron

// Which instruction set's conventions this build accepts in a program file.
#include "runtime/deuteron.h"

namespace deuteron {

const char* name_of(Isa isa) {
  switch (isa) {
    case Isa::scalar:
      return "scalar";
    case Isa::dsp:
      return "dsp";
    case Isa::mve:
      return "mve";
  }
  return "?";
}

// Macros: Arm C Language Extensions, sections "M-profile Vector Extension" and "DSP instructions".
uint8_t accepted_isas() {
#if defined(__ARM_ARCH_PROFILE) && __ARM_ARCH_PROFILE == 'M'
#if defined(__ARM_FEATURE_MVE)
  return 1u << static_cast<int>(Isa::mve);
#elif defined(__ARM_FEATURE_DSP)
  return 1u << static_cast<int>(Isa::dsp);
#else
  return 1u << static_cast<int>(Isa::scalar);
#endif
#else
  return 7;
#endif
}

}  // namespace deuteron

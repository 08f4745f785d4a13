// SPDX-License-Identifier: Apache-2.0
// The names of instruction sets, and which this build accepts in a program file.
#include "runtime/isa.h"

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

uint8_t accepted_isas() {
  return kIsHost ? 7 : static_cast<uint8_t>(1u << static_cast<int>(kBuildIsa));
}

}  // namespace deuteron

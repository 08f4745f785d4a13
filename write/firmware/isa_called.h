// SPDX-License-Identifier: Apache-2.0
// An instruction set by the name that files and boards have for it.
#pragma once
#include <optional>
#include <string_view>

#include "runtime/isa.h"

namespace deuteron {

inline std::optional<Isa> isa_called(std::string_view name) {
  for (const Isa isa : {Isa::scalar, Isa::dsp, Isa::mve})
    if (name == name_of(isa)) return isa;
  return std::nullopt;
}

}  // namespace deuteron

// SPDX-License-Identifier: Apache-2.0
// What can be told of the parts of other backends: XNNPACK's graph and Vela's blocks have published
// formats.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/tensor/type.h"

namespace deuteron {

struct ForeignPart {
  std::vector<std::string> calls;                  // "FullyConnected", in their order
  std::vector<std::pair<std::string, i64>> bytes;  // "weights", how many
  std::string fault;                               // why it cannot be read
};
// Empty for a backend of another name.
ForeignPart read_foreign_part(const std::string& backend, std::span<const uint8_t> payload);

}  // namespace deuteron

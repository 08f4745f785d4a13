// SPDX-License-Identifier: Apache-2.0
// The bytes that a kernel call's operands have, each counted once: activations read and written,
// weights, parameters, tables. Not what the machine streams (cycles.h says how long that takes), so
// the figure is the same for every machine.
#pragma once
#include <cstdint>
#include <cstring>

#include "npu/neutron/machine/microcode.h"

namespace deuteron::neutron {

namespace traffic {
constexpr int64_t elements(const int32_t (&extent)[kMaxRank]) {
  int64_t count = 1;
  for (const int32_t e : extent) count *= e;
  return count;
}
// Distinct elements behind strides over these extents.
constexpr int64_t distinct(const int32_t (&extent)[kMaxRank], const int32_t (&stride)[kMaxRank]) {
  int64_t count = 1;
  for (int i = 0; i < kMaxRank; i++) count *= stride[i] == 0 ? 1 : extent[i];
  return count;
}
}  // namespace traffic

// Of an encoded call: `call` points to the structure behind the head. 0 for a kind that does not
// exist.
int64_t bytes_of(Kind kind, const void* call);

}  // namespace deuteron::neutron

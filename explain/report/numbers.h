// SPDX-License-Identifier: Apache-2.0
// Numbers as reports spell them.
#pragma once
#include <string>

#include "base/tensor/type.h"

namespace deuteron {

struct MemoryRegion;  // targets/target.h

std::string grouped(i64 number);  // "1 234 567"

// " + waiting for constants 2 456 (assumed: in flash, 5 wait states for 8 bytes, no cache)"; no
// cycles: "". The memory may be null.
std::string wait_text(const char* what, i64 cycles, const MemoryRegion* memory);

}  // namespace deuteron

// SPDX-License-Identifier: Apache-2.0
// What bytes may cost that save time.
#pragma once
#include "ir/graph.h"

namespace deuteron {

// What all operators take: bytes of their constants, or of the plan, and time.
struct Whole {
  i64 bytes = 0, cycles = 0;
};

// Whether so many bytes more save at least as many percent of the time as they are of all bytes.
inline bool saves_its_share(i64 growth, i64 cycles_saved, const Whole& all) {
  return all.cycles > 0 && static_cast<double>(cycles_saved) / static_cast<double>(all.cycles) >=
                               static_cast<double>(growth) / static_cast<double>(all.bytes);
}

}  // namespace deuteron

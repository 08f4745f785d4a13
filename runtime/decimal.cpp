// SPDX-License-Identifier: Apache-2.0
#include "runtime/decimal.h"

namespace deuteron {

// Not in the header: the profiler and the ports share it, and where it lies in an image must not
// depend on whether the profiler is there. Divides 16 bits at a time: no core here divides 64 bits,
// and the function that does is larger than all that prints.
Decimal::Decimal(uint64_t v) {
  do {
    uint32_t rest = 0;
    uint64_t tenth = 0;
    for (int shift = 48; shift >= 0; shift -= 16) {
      rest = rest << 16 | static_cast<uint32_t>(v >> shift & 0xffff);
      tenth = tenth << 16 | rest / 10;
      rest %= 10;
    }
    *--first_ = static_cast<char>('0' + rest);
    v = tenth;
  } while (v);
}

}  // namespace deuteron

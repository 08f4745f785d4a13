#include "runtime/decimal.h"

namespace deuteron {

// Not in the header: the profiler and the ports share it, and where it lies in an image must not depend on whether the profiler is there.
Decimal::Decimal(uint64_t v) {
  do {
    *--first_ = static_cast<char>('0' + v % 10);
    v /= 10;
  } while (v);
}

}  // namespace deuteron

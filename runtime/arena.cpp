// The bump allocator over the caller's memory.
#include "runtime/kernel.h"

namespace deuteron {

void* Arena::take(size_t size, size_t align) {
  const size_t at = (used + align - 1) & ~(align - 1);  // base is 16-aligned, so offsets align like addresses
  if (at < used || at + size < at) {
    used = SIZE_MAX / 2;  // such a request is never met; the sum stays far from wrapping
    return nullptr;
  }
  used = at + size;
  return used <= bytes ? base + at : nullptr;
}

}  // namespace deuteron

// SPDX-License-Identifier: Apache-2.0
// The bump allocator over the caller's memory.
#include "runtime/kernel.h"

namespace deuteron {

void* Arena::take(size_t size, size_t align) {
  // base is 16-aligned, so offsets align like addresses
  const size_t at = (used + align - 1) & ~(align - 1);
  if (at < used || at + size < at) {
    used = SIZE_MAX / 2;  // such a request is never met; the sum stays far from wrapping
    return nullptr;
  }
  used = at + size;
  return fits() ? base + at : nullptr;
}

void* Arena::share(size_t size) {
  const size_t ragged = bytes % 16, block = (size + 15) & ~size_t{15};
  if (block + ragged > shared) shared = block + ragged;
  return fits() ? base + (bytes - ragged - block) : nullptr;
}

}  // namespace deuteron

// SPDX-License-Identifier: Apache-2.0
#include "kernels/common/arena_host.h"

namespace deuteron {

#if !defined(DEUTERON_MICROCONTROLLER)
namespace {

constexpr size_t kAlignment = 64;  // of a vector; what is lent may begin anywhere
thread_local HostArena* t_innermost = nullptr;

}  // namespace

HostArena::HostArena(Memory lent) : outer_(t_innermost) {
  t_innermost = this;
  const size_t skipped = -reinterpret_cast<uintptr_t>(lent.data) % kAlignment;
  if (lent.data == nullptr || lent.bytes <= skipped) return;
  arena_.base = static_cast<uint8_t*>(lent.data) + skipped;
  arena_.bytes = lent.bytes - skipped;
}
HostArena::~HostArena() { t_innermost = outer_; }

size_t HostArena::bytes() const { return arena_.used > 0 ? arena_.used + kAlignment - 1 : 0; }

void* HostArena::take(size_t bytes) {
  return t_innermost ? t_innermost->arena_.take(bytes, kAlignment) : nullptr;
}
#endif

}  // namespace deuteron

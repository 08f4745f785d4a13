// SPDX-License-Identifier: Apache-2.0
// How much of the stack has been used: it is painted at start.
#pragma once
#include <cstdint>

namespace deuteron {

void prepare_memory();  // clears .bss and paints the stack: before main, on another stack
uint32_t stack_bytes();
uint32_t stack_used_bytes();  // the deepest so far
bool stack_overflowed();      // the lowest words are no longer painted

}  // namespace deuteron

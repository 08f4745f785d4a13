// SPDX-License-Identifier: Apache-2.0
#include "runtime/ports/stack.h"

extern "C" {
extern uint32_t bss_begin, bss_end, stack_limit, stack_top;
}

namespace deuteron {
namespace {

constexpr uint32_t kPaint = 0xdeadbea7;
constexpr uint32_t kGuardWords = 16;

}  // namespace

void prepare_memory() {
  for (volatile uint32_t* p = &bss_begin; p < &bss_end; p++) *p = 0;
  for (volatile uint32_t* p = &stack_limit; p < &stack_top; p++) *p = kPaint;
}

uint32_t stack_bytes() { return static_cast<uint32_t>(&stack_top - &stack_limit) * 4; }

uint32_t stack_used_bytes() {
  const uint32_t* p = &stack_limit;
  while (p < &stack_top && *p == kPaint) p++;
  return static_cast<uint32_t>(&stack_top - p) * 4;
}

bool stack_overflowed() {
  for (uint32_t i = 0; i < kGuardWords; i++)
    if ((&stack_limit)[i] != kPaint) return true;
  return false;
}

}  // namespace deuteron

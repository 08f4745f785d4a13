// SPDX-License-Identifier: Apache-2.0
// See memory_protection.h. Sources: Armv7-M ARM (DDI 0403) B3.5, Armv8-M ARM (DDI 0553) B12.
#include "runtime/ports/cortex_m/memory_protection.h"

#include "runtime/ports/board.h"

extern "C" uint32_t stack_guard, stack_limit;

namespace deuteron {
namespace {

constexpr uintptr_t kControl = 0xe000ed94, kNumber = 0xe000ed98, kBase = 0xe000ed9c,
                    kLimit = 0xe000eda0;
constexpr Region kPeripherals = {0x40000000, 0x20000000};
uint32_t next_region;

void write(uintptr_t address, uint32_t value) {
  *reinterpret_cast<volatile uint32_t*>(address) = value;
}
uint32_t address_of(const uint32_t& symbol) { return reinterpret_cast<uint32_t>(&symbol); }

#if __ARM_ARCH >= 8
constexpr uintptr_t kAttributes = 0xe000edc0;
constexpr uint32_t kReadOnly = 2u << 1, kReadWrite = 0, kNoExecute = 1;

void allow(uint32_t from, uint32_t bytes, uint32_t access, uint32_t attribute) {
  write(kNumber, next_region++);
  write(kBase, from | access);
  write(kLimit, ((from + bytes - 1) & ~31u) | attribute << 1 | 1);
}

void set_regions() {
  write(kAttributes, 0x04ff);  // 0: ordinary memory, 1: device
  allow(kCode.base, kCode.bytes, kReadOnly, 0);
  const uint32_t guarded = address_of(stack_limit) - kRam.base;
  allow(kRam.base + guarded, kRam.bytes - guarded, kReadWrite | kNoExecute, 0);
  allow(kPool[0].base, kPool[0].bytes, kReadWrite | kNoExecute, 0);
  allow(kPeripherals.base, kPeripherals.bytes, kReadWrite | kNoExecute, 1);
}
#else
constexpr uint32_t kReadOnly = 5u << 24, kReadWrite = 1u << 24, kNothing = 0, kNoExecute = 1u << 28;
constexpr uint32_t kMemory = 0xbu << 16, kDevice = 0x5u << 16;  // TEX 1, C, B; TEX 0, shared, B

// `bytes` is a power of two and divides `from`; a later region goes before an earlier one.
void set(uint32_t from, uint32_t bytes, uint32_t access) {
  write(kNumber, next_region++);
  write(kBase, from);
  write(kLimit, access | static_cast<uint32_t>(30 - __builtin_clz(bytes)) << 1 | 1);
}

void set_regions() {
  set(kCode.base, kCode.bytes, kReadOnly | kMemory);
  set(kRam.base, kRam.bytes, kReadWrite | kNoExecute | kMemory);
  set(kPool[0].base, kPool[0].bytes, kReadWrite | kNoExecute | kMemory);
  set(kPeripherals.base, kPeripherals.bytes, kReadWrite | kNoExecute | kDevice);
  set(address_of(stack_guard), 4 * static_cast<uint32_t>(&stack_limit - &stack_guard),
      kNothing | kNoExecute | kMemory);
  set(kCode.base, 1024, kNothing | kNoExecute | kMemory);  // the vectors: a null pointer lands here
}
#endif

}  // namespace

void protect_memory() {
  set_regions();
  write(kControl, 1);  // no default map, not even for privileged code
  asm volatile("dsb\nisb" ::: "memory");
}

}  // namespace deuteron

// SPDX-License-Identifier: Apache-2.0
// From reset to main for stock_runner on an emulated board: newlib with files over semihosting. The
// command line is QEMU's `arg=` words.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

extern "C" {
extern uint32_t bss_begin[], bss_end[], heap_begin[], heap_end[], stack_top[];
int main(int argc, char** argv);
void initialise_monitor_handles();
void __libc_init_array();

// What start-up files define, which are left out.
void* __dso_handle = nullptr;
void _init() {}
void _fini() {}

// newlib's memory.
void* _sbrk(intptr_t bytes) {
  static uint8_t* at = reinterpret_cast<uint8_t*>(heap_begin);
  if (bytes > reinterpret_cast<uint8_t*>(heap_end) - at) return reinterpret_cast<void*>(-1);
  uint8_t* const begin = at;
  at += bytes;
  return begin;
}

[[noreturn]] void fault() {
  std::fputs("the processor faults\n", stderr);
  _Exit(3);
}

[[noreturn]] void reset() {
#if defined(__ARM_FP)
  *reinterpret_cast<volatile uint32_t*>(0xe000ed88) |= 0xfu << 20;  // CPACR: floating point and MVE
  asm volatile("dsb\nisb" ::: "memory");
#endif
  for (volatile uint32_t* p = bss_begin; p < bss_end; ++p) *p = 0;
  initialise_monitor_handles();
  __libc_init_array();
  static char line[1024];
  struct {
    char* text;
    uint32_t bytes;
  } block = {line, sizeof line};
  register uint32_t operation asm("r0") = 0x15;  // SYS_GET_CMDLINE
  register void* argument asm("r1") = &block;
  asm volatile("bkpt 0xab" : "+r"(operation) : "r"(argument) : "memory");
  static char* words[16];
  int count = 0;
  for (char* word = std::strtok(line, " "); word && count < 15; word = std::strtok(nullptr, " "))
    words[count++] = word;
  std::exit(main(count, words));
}
}

[[gnu::section(".vectors"), gnu::used]] static const void* const kVectors[16] = {
    stack_top,
    reinterpret_cast<const void*>(reset),
    reinterpret_cast<const void*>(fault),
    reinterpret_cast<const void*>(fault),
    reinterpret_cast<const void*>(fault),
    reinterpret_cast<const void*>(fault),
    reinterpret_cast<const void*>(fault),
};

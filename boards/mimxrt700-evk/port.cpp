// SPDX-License-Identifier: Apache-2.0
// Firmware projects on the MIMXRT700-EVK, over the MCUXpresso SDK's board files: power and clocks
// as its examples for the NPU set them, text on the debug console, cycles of the processor.
#include "runtime/ports/firmware_port.h"

#include <cstring>

#include "runtime/ports/line.h"
#include "runtime/ports/stack.h"

extern "C" {
#include "board.h"
#include "clock_config.h"
#include "fsl_debug_console.h"
#include "fsl_power.h"
#include "pin_mux.h"
#include "pmic_support.h"

// Of the linker scripts.
extern uint32_t __StackLimit[], __StackTop[];
extern uint8_t models_copied_begin[], models_copied_end[], models_copied_from[];
}

namespace deuteron {
namespace {

constexpr uint32_t kPaint = 0xdeadbea7;
constexpr uint32_t kVdd2Microvolts = 1100000;  // what 325 MHz need, say the SDK's examples

// Data watchpoint and trace unit, Armv8-M Architecture Reference Manual (DDI 0553), D1.2.
constexpr uintptr_t kDemcr = 0xe000edfc, kDwtControl = 0xe0001000, kCycles = 0xe0001004;
volatile uint32_t& at(uintptr_t address) { return *reinterpret_cast<volatile uint32_t*>(address); }

[[gnu::noinline]] void paint_stack() {
  // what this function has below it
  const uint32_t* const here = static_cast<uint32_t*>(__builtin_frame_address(0)) - 64;
  for (volatile uint32_t* p = __StackLimit; p < here; p++) *p = kPaint;
}

}  // namespace

void start_board() {
  paint_stack();
  BOARD_InitDEBUG_UARTPins();
  BOARD_InitPMIC_I2CPins();
  BOARD_InitPMIC_DVSPins();
  BOARD_InitAHBSC();
  BOARD_ConfigMPU();  // POOL is not cached from here on
  BOARD_InitPmic();
  BOARD_SetPmicVdd2Voltage(kVdd2Microvolts);
  BOARD_BootClockHSRUN();
  BOARD_InitDebugConsole();
  POWER_DisablePD(kPDRUNCFG_APD_NPU);
  POWER_DisablePD(kPDRUNCFG_PPD_NPU);
  POWER_ApplyPD();
  std::memcpy(models_copied_begin, models_copied_from,
              static_cast<size_t>(models_copied_end - models_copied_begin));
  at(kDemcr) |= 1u << 24;  // the unit as a whole, then its counter
  at(kDwtControl) |= 1;
}

extern const char* const kCostUnit = "cycles";  // 32 bits: up to 13 s at 325 MHz

RunCost cost_of(void (*function)(void*), void* argument) {
  const uint32_t before = at(kCycles);
  function(argument);
  return {at(kCycles) - before, 0};
}

bool keep_output(const void*, uint32_t) { return true; }

BoardExit stop_board(BoardExit end) {
  Line("@end ").number(static_cast<uint32_t>(end)).print();
  return end;
}

void write_console(const char* text) {
  for (; *text != 0; text++) {
    if (*text == '\n') DbgConsole_Putchar('\r');
    DbgConsole_Putchar(*text);
  }
}

uint32_t stack_bytes() { return static_cast<uint32_t>(__StackTop - __StackLimit) * 4; }

uint32_t stack_used_bytes() {
  const uint32_t* p = __StackLimit;
  while (p < __StackTop && *p == kPaint) p++;
  return static_cast<uint32_t>(__StackTop - p) * 4;
}

}  // namespace deuteron

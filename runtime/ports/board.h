// The emulated boards: where their memories and their clock are. One of the BOARD_* macros is defined by the build.
// Source: QEMU 7.2's hw/arm/mps2.c, mps2-tz.c and armsse.c, as `info mtree` shows them (docs/boards.md).
#pragma once
#include <cstdint>

namespace deuteron {

struct Region {
  uintptr_t base;
  uint32_t bytes;
};

// FPGAIO: a free-running counter and a second one at 100 Hz. With `-icount shift=0` an instruction takes one virtual nanosecond, so
// a tick is that many instructions. `kCode` holds the program, `kRam` starts with the stack, `kPool` holds models and tensors.
#if defined(BOARD_MPS3_AN547)
inline constexpr const char* kBoardName = "mps3-an547";
inline constexpr uintptr_t kFpgaio = 0x59302000;
inline constexpr uint32_t kInstructionsPerTick = 50;           // 20 MHz
inline constexpr Region kCode = {0x10000000, 0x80000};         // instruction TCM, 512 KB
inline constexpr Region kRam = {0x30000000, 0x80000};          // data TCM, 512 KB
inline constexpr Region kPool[] = {{0x60000000, 0x10000000}};  // DDR, 256 MB
#elif defined(BOARD_MPS2_AN505)
inline constexpr const char* kBoardName = "mps2-an505";
inline constexpr uintptr_t kFpgaio = 0x50302000;
inline constexpr uint32_t kInstructionsPerTick = 50;           // 20 MHz
inline constexpr Region kCode = {0x10000000, 0x400000};        // SSRAM1, 4 MB
inline constexpr Region kRam = {0x38000000, 0x400000};         // SSRAM2 and 3, 4 MB
inline constexpr Region kPool[] = {{0x80000000, 0x01000000},   // PSRAM, 16 MB
                                   {0x38100000, 0x00300000}};  // SSRAM2 and 3, less the first MB
#elif defined(BOARD_MPS2_AN386) || defined(BOARD_MPS2_AN385)
#if defined(BOARD_MPS2_AN386)
inline constexpr const char* kBoardName = "mps2-an386";
#else
inline constexpr const char* kBoardName = "mps2-an385";
#endif
inline constexpr uintptr_t kFpgaio = 0x40028000;
inline constexpr uint32_t kInstructionsPerTick = 40;           // 25 MHz
inline constexpr Region kCode = {0x00000000, 0x400000};        // SSRAM1, 4 MB
inline constexpr Region kRam = {0x20000000, 0x400000};         // SSRAM2 and 3, 4 MB
inline constexpr Region kPool[] = {{0x21000000, 0x01000000},   // PSRAM, 16 MB
                                   {0x20100000, 0x00300000}};  // SSRAM2 and 3, less the first MB
#else
#error "define a board"
#endif

}  // namespace deuteron

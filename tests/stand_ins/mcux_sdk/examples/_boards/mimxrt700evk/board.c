// SPDX-License-Identifier: Apache-2.0
#include "board.h"

#include <stdint.h>

/* What the SDK's function makes uncacheable: the linker script says it, and the SDK asks for
 * multiples of 32. */
extern uint32_t __NCACHE_REGION_START[], __NCACHE_REGION_SIZE[];
volatile uint32_t uncached_begin, uncached_bytes;
void BOARD_ConfigMPU(void) {
  uncached_begin = (uint32_t)__NCACHE_REGION_START;
  uncached_bytes = (uint32_t)__NCACHE_REGION_SIZE;
}
void BOARD_InitAHBSC(void) {}
void BOARD_InitDebugConsole(void) {}

// SPDX-License-Identifier: Apache-2.0
#include "clock_config.h"
/* The SDK runs what changes the flash's clock from SRAM. */
__attribute__((section("CodeQuickAccess"))) void BOARD_BootClockHSRUN(void) {}

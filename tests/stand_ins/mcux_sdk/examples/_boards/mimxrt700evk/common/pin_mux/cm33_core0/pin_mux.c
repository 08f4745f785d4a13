// SPDX-License-Identifier: Apache-2.0
#include "pin_mux.h"
void BOARD_InitDEBUG_UARTPins(void) {}
void BOARD_InitPMIC_I2CPins(void) {}
void BOARD_InitPMIC_DVSPins(void) {}

// SPDX-License-Identifier: Apache-2.0
#include "pmic_support.h"
void BOARD_InitPmic(void) {}
void BOARD_SetPmicVdd2Voltage(uint32_t volt) { (void)volt; }

// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <stdint.h>
void BOARD_InitPmic(void);
void BOARD_SetPmicVdd2Voltage(uint32_t volt);

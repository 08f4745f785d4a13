// SPDX-License-Identifier: Apache-2.0
/* The board's set-up, as port.cpp calls it. */
#pragma once
void BOARD_InitAHBSC(void);
void BOARD_ConfigMPU(void);
void BOARD_InitDebugConsole(void);

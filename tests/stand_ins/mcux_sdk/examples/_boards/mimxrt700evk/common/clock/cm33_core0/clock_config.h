#pragma once
void BOARD_BootClockHSRUN(void);

// SPDX-License-Identifier: Apache-2.0
#include "fsl_power.h"
void POWER_DisablePD(pd_bit_t en) { (void)en; }
void POWER_ApplyPD(void) {}

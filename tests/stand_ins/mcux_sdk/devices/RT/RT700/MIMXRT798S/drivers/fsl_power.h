// SPDX-License-Identifier: Apache-2.0
/* Power-down control. The two names are those of the NPU's memories; their values are of no account
 * here. */
#pragma once
#include <stdint.h>
typedef enum { kPDRUNCFG_APD_NPU, kPDRUNCFG_PPD_NPU } pd_bit_t;
void POWER_DisablePD(pd_bit_t en);
void POWER_ApplyPD(void);

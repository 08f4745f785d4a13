// SPDX-License-Identifier: Apache-2.0
// The memories and the clock of mps2-an505, by QEMU 7.2's hw/arm/mps2-tz.c; the programs run on the
// first of its two cores.
#pragma once
#include "boards/mps2-an505/map.h"

// SPDX-License-Identifier: Apache-2.0
// The memories and the clock of mps2-an386, with another core.
#pragma once
#include "boards/mps2-an386/map.h"

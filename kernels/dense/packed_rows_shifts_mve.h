// SPDX-License-Identifier: Apache-2.0
// The loop of kernels/dense/packed_rows_mve.h for tiles with shifts, -31..-1. Firmware without
// shifts has none of it.
#pragma once
#include "kernels/dense/packed_rows_mve.h"

namespace deuteron {

extern "C" void deuteron_packed_rows_shifts_mve(const MvePackedRows* a);

}  // namespace deuteron

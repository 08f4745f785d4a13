// SPDX-License-Identifier: Apache-2.0
// The loop over many windows of kernels/dense/packed_mve.h for tiles with shifts, -31..-1. Firmware
// without shifts has none of it.
#pragma once
#include "kernels/dense/packed_mve.h"

namespace deuteron {

extern "C" void deuteron_packed_windows_shifts_mve(const MvePackedWindows* a);

}  // namespace deuteron

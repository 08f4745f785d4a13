// SPDX-License-Identifier: Apache-2.0
// The loop over many windows of kernels/dense/packed_dsp.h for tiles with shifts, -23..-1. Firmware
// without shifts has none of it.
#pragma once
#include "kernels/dense/packed_dsp.h"

namespace deuteron {

extern "C" void deuteron_packed_windows_shifts_dsp(const DspPackedWindows* a);

}  // namespace deuteron

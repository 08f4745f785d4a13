// SPDX-License-Identifier: Apache-2.0
// Portable int16 GRU.
#include "kernels/recurrent/gru_s16/kernel.h"

#include "kernels/recurrent/gru/cells.h"

namespace deuteron {

void gru_s16(const GruS16Args& a) { run_gru<PortableRows>(a); }

}  // namespace deuteron

// SPDX-License-Identifier: Apache-2.0
// Portable GRU.
#include "kernels/recurrent/gru/cells.h"

namespace deuteron {

void gru_s8(const GruArgs& a) { run_gru<PortableRows>(a); }

}  // namespace deuteron

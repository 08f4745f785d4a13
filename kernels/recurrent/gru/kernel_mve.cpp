// SPDX-License-Identifier: Apache-2.0
// GRU with the M-profile Vector Extension.
#include "kernels/recurrent/gru/cells.h"
#include "kernels/recurrent/rows_mve.h"

namespace deuteron {

void gru_s8_mve(const GruArgs& a) { run_gru<MveRows>(a); }

}  // namespace deuteron

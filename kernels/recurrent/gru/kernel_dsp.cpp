// SPDX-License-Identifier: Apache-2.0
// GRU with the DSP extension.
#include "kernels/recurrent/gru/cells.h"
#include "kernels/recurrent/rows_dsp.h"

namespace deuteron {

void gru_s8_dsp(const GruArgs& a) { run_gru<DspRows>(a); }

}  // namespace deuteron

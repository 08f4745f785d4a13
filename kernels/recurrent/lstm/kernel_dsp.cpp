// SPDX-License-Identifier: Apache-2.0
// LSTM with the DSP extension.
#include "kernels/recurrent/lstm/cells.h"
#include "kernels/recurrent/rows_dsp.h"

namespace deuteron {

void lstm_s8_dsp(const LstmArgs& a) { run_lstm<DspRows>(a); }

}  // namespace deuteron

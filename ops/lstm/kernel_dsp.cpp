// SPDX-License-Identifier: Apache-2.0
// LSTM with the DSP extension.
#include "ops/lstm/cells.h"
#include "ops/recurrent/rows_dsp.h"

namespace deuteron {

void lstm_s8_dsp(const LstmArgs& a) { run_lstm<DspRows>(a); }

}  // namespace deuteron

// SPDX-License-Identifier: Apache-2.0
// TFLite's LSTM with the DSP extension.
#include "ops/recurrent/rows_dsp.h"
#include "ops/sequence_lstm/cells.h"

namespace deuteron {

void sequence_lstm_s8_dsp(const SequenceLstmArgs& a) { run_sequence_lstm<DspRows, PortableCells>(a); }

}  // namespace deuteron

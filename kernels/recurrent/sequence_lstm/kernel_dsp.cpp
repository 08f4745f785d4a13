// SPDX-License-Identifier: Apache-2.0
// TFLite's LSTM with the DSP extension.
#include "kernels/recurrent/rows_dsp.h"
#include "kernels/recurrent/sequence_lstm/cells.h"

namespace deuteron {

void sequence_lstm_s8_dsp(const SequenceLstmArgs& a) {
  run_sequence_lstm<DspRows, PortableCells>(a);
}

}  // namespace deuteron

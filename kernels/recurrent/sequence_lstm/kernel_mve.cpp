// SPDX-License-Identifier: Apache-2.0
// TFLite's LSTM with the M-profile Vector Extension.
#include "kernels/recurrent/rows_mve.h"
#include "kernels/recurrent/sequence_lstm/cells.h"
#include "kernels/recurrent/sequence_lstm/cells_mve.h"

namespace deuteron {

void sequence_lstm_s8_mve(const SequenceLstmArgs& a) { run_sequence_lstm<MveRows, MveCells>(a); }

}  // namespace deuteron

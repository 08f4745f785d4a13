// SPDX-License-Identifier: Apache-2.0
// TFLite's LSTM on cores with neither vectors nor the DSP extension.
#include "kernels/recurrent/rows_scalar.h"
#include "kernels/recurrent/sequence_lstm/cells.h"

#if defined(DEUTERON_SCALAR)
namespace deuteron {

void sequence_lstm_s8_scalar(const SequenceLstmArgs& a) {
  run_sequence_lstm<ScalarRows, PortableCells>(a);
}

}  // namespace deuteron
#endif

// SPDX-License-Identifier: Apache-2.0
// Portable LSTM of TFLite.
#include "kernels/recurrent/kernel.h"
#include "kernels/recurrent/sequence_lstm/cells.h"

namespace deuteron {

void sequence_lstm_s8(const SequenceLstmArgs& a) {
  run_sequence_lstm<PortableRows, PortableCells>(a);
}

}  // namespace deuteron

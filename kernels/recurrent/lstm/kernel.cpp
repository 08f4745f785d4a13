// SPDX-License-Identifier: Apache-2.0
// Portable LSTM.
#include "kernels/recurrent/lstm/cells.h"

namespace deuteron {

void lstm_s8(const LstmArgs& a) { run_lstm<PortableRows>(a); }

}  // namespace deuteron

// SPDX-License-Identifier: Apache-2.0
// LSTM with the M-profile Vector Extension.
#include "kernels/recurrent/lstm/cells.h"
#include "kernels/recurrent/rows_mve.h"

namespace deuteron {

void lstm_s8_mve(const LstmArgs& a) { run_lstm<MveRows>(a); }

}  // namespace deuteron

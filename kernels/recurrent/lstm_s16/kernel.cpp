// SPDX-License-Identifier: Apache-2.0
// Portable int16 LSTM.
#include "kernels/recurrent/lstm_s16/kernel.h"

#include "kernels/recurrent/lstm/cells.h"

namespace deuteron {

void lstm_s16(const LstmS16Args& a) { run_lstm<PortableRows>(a); }

}  // namespace deuteron

// SPDX-License-Identifier: Apache-2.0
// Portable int16 LSTM.
#include "ops/lstm_s16/kernel.h"

#include "ops/lstm/cells.h"

namespace deuteron {

void lstm_s16(const LstmS16Args& a) { run_lstm<PortableRows>(a); }

}  // namespace deuteron

// SPDX-License-Identifier: Apache-2.0
// LSTM on cores with neither vectors nor the DSP extension.
#include "kernels/recurrent/lstm/cells.h"
#include "kernels/recurrent/rows_scalar.h"

#if defined(DEUTERON_SCALAR)
namespace deuteron {

void lstm_s8_scalar(const LstmArgs& a) { run_lstm<ScalarRows>(a); }

}  // namespace deuteron
#endif

// SPDX-License-Identifier: Apache-2.0
// plain RNN with the M-profile Vector Extension.
#include "kernels/recurrent/rnn/cells.h"
#include "kernels/recurrent/rows_mve.h"

namespace deuteron {

void rnn_s8_mve(const RnnArgs& a) { run_rnn<MveRows>(a); }

}  // namespace deuteron

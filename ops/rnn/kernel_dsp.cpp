// SPDX-License-Identifier: Apache-2.0
// plain RNN with the DSP extension.
#include "ops/recurrent/rows_dsp.h"
#include "ops/rnn/cells.h"

namespace deuteron {

void rnn_s8_dsp(const RnnArgs& a) { run_rnn<DspRows>(a); }

}  // namespace deuteron

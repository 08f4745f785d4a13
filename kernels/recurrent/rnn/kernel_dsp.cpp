// SPDX-License-Identifier: Apache-2.0
// plain RNN with the DSP extension.
#include "kernels/recurrent/rnn/cells.h"
#include "kernels/recurrent/rows_dsp.h"

namespace deuteron {

void rnn_s8_dsp(const RnnArgs& a) { run_rnn<DspRows>(a); }

}  // namespace deuteron

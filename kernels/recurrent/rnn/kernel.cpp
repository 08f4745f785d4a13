// SPDX-License-Identifier: Apache-2.0
// Portable plain RNN.
#include "kernels/recurrent/rnn/cells.h"

namespace deuteron {

void rnn_s8(const RnnArgs& a) { run_rnn<PortableRows>(a); }

}  // namespace deuteron

// SPDX-License-Identifier: Apache-2.0
// deuteron::rnn: its arguments checked once, at load. docs/kernels.md
#include "kernels/common/kernels.h"
#include "kernels/recurrent/prepare.h"
#include "kernels/recurrent/rnn/kernel.h"
#include "runtime/instruction_set.h"

namespace deuteron {

DEUTERON_FIELDS(RnnArgs, layer, relu)

namespace {

enum { kRelu = kRecurrentOwn, kY, kLastState };

Status prepare(Call& call, Prepared* prepared) {
  RnnArgs a{};
  if (Status s = read_recurrent(call, 1, kY, kLastState, &a.layer); !s.ok()) return s;
  a.relu = call.boolean(kRelu);
  return keep_fastest<rnn_s8, rnn_s8_mve, rnn_s8_dsp>(call, prepared, a);
}

}  // namespace

const Kernel kRnn = {"deuteron::rnn.out", "TtTTTTTTTBBBIIIBOO", prepare};

}  // namespace deuteron

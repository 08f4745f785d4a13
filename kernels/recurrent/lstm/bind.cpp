// SPDX-License-Identifier: Apache-2.0
// deuteron::lstm: its arguments checked once, at load. docs/kernels.md
#include "kernels/common/kernels.h"
#include "kernels/recurrent/lstm/prepare.h"
#include "runtime/instruction_set.h"

namespace deuteron {
namespace {

Status prepare(Call& call, Prepared* prepared) {
  LstmArgs a{};
  if (Status s = read_lstm(call, a); !s.ok()) return s;
  return keep_fastest<lstm_s8, lstm_s8_mve, lstm_s8_dsp, lstm_s8_scalar>(call, prepared, a);
}

}  // namespace

const Kernel kLstm = {"deuteron::lstm.out", "TtTTTTTTTBBBIIItIIIIIIIOOOX", prepare};

}  // namespace deuteron

// SPDX-License-Identifier: Apache-2.0
// deuteron::lstm_s16: its arguments checked once, at load.
#include "kernels/common/kernels.h"
#include "kernels/recurrent/lstm/prepare.h"
#include "kernels/recurrent/lstm_s16/kernel.h"

namespace deuteron {
namespace {

Status prepare(Call& call, Prepared* prepared) {
  LstmS16Args a{};
  if (Status s = read_lstm(call, a); !s.ok()) return s;
  return keep<lstm_s16>(call, prepared, a);
}

}  // namespace

const Kernel kLstmS16 = {"deuteron::lstm_s16.out", "TtTTTTTTTBBBIIItIIIIIIIOOOX", prepare};

}  // namespace deuteron

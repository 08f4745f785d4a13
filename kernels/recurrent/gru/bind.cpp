// SPDX-License-Identifier: Apache-2.0
// deuteron::gru: its arguments checked once, at load. docs/kernels.md
#include "kernels/common/kernels.h"
#include "kernels/recurrent/gru/prepare.h"
#include "runtime/instruction_set.h"

namespace deuteron {
namespace {

Status prepare(Call& call, Prepared* prepared) {
  GruArgs a{};
  if (Status s = read_gru(call, a); !s.ok()) return s;
  return keep_fastest<gru_s8, gru_s8_mve, gru_s8_dsp, gru_s8_scalar>(call, prepared, a);
}

}  // namespace

const Kernel kGru = {"deuteron::gru.out", "TtTTTTTTTBBBIIIIIIIOOX", prepare};

}  // namespace deuteron

// SPDX-License-Identifier: Apache-2.0
// deuteron::gru_s16: its arguments checked once, at load.
#include "kernels/common/kernels.h"
#include "kernels/recurrent/gru/prepare.h"
#include "kernels/recurrent/gru_s16/kernel.h"

namespace deuteron {
namespace {

Status prepare(Call& call, Prepared* prepared) {
  GruS16Args a{};
  if (Status s = read_gru(call, a); !s.ok()) return s;
  return keep<gru_s16>(call, prepared, a);
}

}  // namespace

const Kernel kGruS16 = {"deuteron::gru_s16.out", "TtTTTTTTTBBBIIIIIIIOOX", prepare};

}  // namespace deuteron

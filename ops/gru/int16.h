// SPDX-License-Identifier: Apache-2.0
// GRU on int16 (ops/int16.h).
#pragma once
#include "ops/gru/gru.h"
#include "ops/op.h"

namespace deuteron {

// The call is int8's with other types: begin_recurrent_call().
inline Result<Lowered> int16_form(const Gru& a, const LowerContext& c) {
  return def_of(a).cortex_m(a, c);
}

}  // namespace deuteron

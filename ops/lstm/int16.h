// SPDX-License-Identifier: Apache-2.0
// LSTM on int16 (ops/int16.h).
#pragma once
#include "ops/lstm/lstm.h"
#include "ops/op.h"

namespace deuteron {

// The call is int8's with other types: begin_recurrent_call().
inline Result<Lowered> int16_form(const Lstm& a, const LowerContext& c) {
  return def_of(a).cortex_m(a, c);
}

}  // namespace deuteron

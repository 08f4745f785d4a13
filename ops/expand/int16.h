// SPDX-License-Identifier: Apache-2.0
// Repetition on int16 (ops/int16.h).
#pragma once
#include "ops/expand/expand.h"
#include "ops/op.h"

namespace deuteron {

inline Result<Lowered> int16_form(const Expand& a, const LowerContext& c) {
  CallBuilder call("aten::expand_copy", c.in.size(), 1);  // of elements of any width
  call.in(0, plain_face(c.in[0].shape))
      .integers(a.shape)
      .boolean(false)
      .out(0, plain_face(c.out[0].shape));
  return call.done();
}
inline bool has_bits_of_tflite(const Expand&) { return true; }

}  // namespace deuteron

// SPDX-License-Identifier: Apache-2.0
// A permutation on int16 (ops/int16.h).
#pragma once
#include "ops/op.h"
#include "ops/permute/permute.h"

namespace deuteron {

inline Result<Lowered> int16_form(const Permute& a, const LowerContext& c) {
  CallBuilder call("aten::permute_copy", c.in.size(), 1);  // of elements of any width
  call.in(0, plain_face(c.in[0].shape)).integers(a.perm).out(0, plain_face(c.out[0].shape));
  return call.done();
}
inline bool has_bits_of_tflite(const Permute&) { return true; }

}  // namespace deuteron

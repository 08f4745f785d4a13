// SPDX-License-Identifier: Apache-2.0
#include "ops/pad/int16.h"

namespace deuteron {

// torch lists pairs (before, after) from the last axis on.
Result<Lowered> int16_form(const Pad& a, const LowerContext& c) {
  const Quant& q = c.in[0].quant;
  std::vector<i64> pairs;
  for (size_t k = a.before.size(); k-- > 0;) pairs.insert(pairs.end(), {a.before[k], a.after[k]});
  CallBuilder call("aten::constant_pad_nd", c.in.size(), 1);  // of elements of any width
  call.in(0, plain_face(c.in[0].shape)).integers(std::move(pairs));
  call.integer(quantize_value(a.value, q.scale[0], q.zero_point[0], q.low, q.high))
      .out(0, plain_face(c.out[0].shape));
  return call.done();
}

}  // namespace deuteron

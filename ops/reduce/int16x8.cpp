// SPDX-License-Identifier: Apache-2.0
// A sum or a mean on int16 as TFLite computes it.
#include "kernels/reduce/sum_16x8/kernel.h"
#include "ops/common/int16.h"
#include "ops/reduce/int16.h"
#include "ops/reduce/multiplier.h"
#include "ops/reduce/slices.h"

namespace deuteron {

Result<Lowered> tflite_int16_form(const Reduce& a, const LowerContext& c) {
  const Type &x = c.in[0], &y = c.out[0];
  if (auto why = require_int16(c)) return *why;
  const Slices s = slices_of(x.shape, a.axes);
  if ((a.fn != Reduce::kMean && a.fn != Reduce::kSum) || !s.neighbours)
    return Refusal{"a reduction over these axes has no int16 form", to_text(a.axes),
                   to_text(x.shape), "int16x8.axes"};
  if (s.slice > kMostSummed16x8)
    return Refusal{"elements of a sum in int32", std::to_string(s.slice),
                   std::to_string(kMostSummed16x8), "int16x8.elements"};
  const auto m = reduce_multiplier(x.quant, y.quant, a.fn == Reduce::kMean ? s.slice : 1,
                                   Ties::away, "int16x8.scale");
  if (!m) return m.why;
  CallBuilder call("deuteron::sum_16x8", c.in.size(), 1);
  call.in(0, plain_face(x.shape))
      .integer(s.inner)
      .integer(m->value)
      .integer(m->shift)
      .out(0, plain_face(y.shape));
  return call.done();
}

}  // namespace deuteron

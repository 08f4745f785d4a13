// SPDX-License-Identifier: Apache-2.0
#include "ops/softmax/int16.h"

#include "kernels/softmax/s16/kernel.h"
#include "ops/common/int16.h"
#include "ops/softmax/multiplier.h"

namespace deuteron {

Result<Lowered> int16_form(const Softmax& a, const LowerContext& c) {
  const Type &x = c.in[0], &y = c.out[0];
  if (auto why = require_int16(c)) return *why;
  if (a.axis != x.rank() - 1)
    return Refusal{"the kernel works over the last axis", std::to_string(a.axis),
                   std::to_string(x.rank() - 1), "int16.softmax.axis"};
  if (x.shape.back() > kSoftmaxS16MostColumns)
    return Refusal{"elements of a row", std::to_string(x.shape.back()),
                   std::to_string(kSoftmaxS16MostColumns), "int16.softmax.columns"};
  if (y.quant.scale[0] != 0x1p-15f)
    return Refusal{"the result must have scale 2^-15", fmt::format("{:g}", y.quant.scale[0]),
                   "3.05176e-05", "int16.softmax.quant"};
  const auto m = softmax_multiplier(x.quant, a.beta, Ties::away, "int16.softmax.scale");
  if (!m) return m.why;
  CallBuilder call("deuteron::softmax_s16", c.in.size(), 1);
  call.in(0, plain_face(x.shape))
      .integer(m->input.value)
      .integer(m->input.shift)
      .integer(m->diff_min)
      .out(0, plain_face(y.shape));
  call.may_share(0, 0);
  return call.done();
}

}  // namespace deuteron

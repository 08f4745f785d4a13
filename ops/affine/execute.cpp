// SPDX-License-Identifier: Apache-2.0
// Float execution of Affine; with `quant` it rounds to the grid and stays real, as Quantize does.
#include "ops/affine/affine.h"
#include "ops/op.h"

namespace deuteron {

void execute(const Affine& a, std::span<const HostTensor> in, std::span<const HostTensor> out) {
  const i64 channels = in[2].type->elements(), total = out[0].type->elements();
  const float *shift = in[1].data, *factor = in[2].data;
  float* y = out[0].data;
  for (i64 i = 0, c = 0; i < total; ++i, c = c + 1 < channels ? c + 1 : 0)
    y[i] = (in[0].data[i] + shift[c]) * factor[c];
  if (a.quant.empty()) return;
  const Quant& q = a.quant;
  for (i64 i = 0; i < total; ++i)
    y[i] = q.scale[0] *
           static_cast<float>(quantize_value(y[i], q.scale[0], q.zero_point[0], q.low, q.high) -
                              q.zero_point[0]);
}

}  // namespace deuteron

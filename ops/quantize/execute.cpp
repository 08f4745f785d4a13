// SPDX-License-Identifier: Apache-2.0
// Float execution of Quantize: rounds to the grid and stays real, y = scale * (quantize_value(x) -
// zero_point).
#include "kernels/common/lanes.h"
#include "ops/op.h"
#include "ops/quantize/quantize.h"

namespace deuteron {

// quantize_value() for a run of elements. Bounding first and rounding then gives the same as the
// other way round, because the bounds are integers; adding and subtracting 1.5 * 2^23 rounds half
// to even below 2^22.
static void round_to_grid(const float* x, float* y, i64 count, float scale, i32 zero_point, i32 low,
                          i32 high) {
  constexpr i64 kExact = i64{1} << 22;
  if (i64{low} - zero_point <= -kExact || i64{high} - zero_point >= kExact) {
    for (i64 i = 0; i < count; ++i)
      y[i] = scale * static_cast<float>(i64{quantize_value(x[i], scale, zero_point, low, high)} -
                                        zero_point);
    return;
  }
  constexpr float kRound = 12582912.0f;
  const float inverse = 1.0f / scale, least = static_cast<float>(low - zero_point),
              most = static_cast<float>(high - zero_point);
  map_floats(x, y, count, [&]<class V>(V value) {
    V steps = value * inverse;
    steps = steps < least ? V{} + least : steps;
    steps = steps > most ? V{} + most : steps;
    steps = steps == steps ? steps : V{};
    return scale * ((steps + kRound) - kRound);
  });
}

void execute(const Quantize& a, std::span<const HostTensor> in, std::span<const HostTensor> out) {
  const Quant& q = a.quant;
  const i64 total = out[0].type->elements();
  if (!q.per_channel())
    return round_to_grid(in[0].data, out[0].data, total, q.scale[0], q.zero_point[0], q.low,
                         q.high);
  const Shape& shape = out[0].type->shape;
  const i64 channels = shape[q.axis];
  const i64 inner = numel(std::span(shape).subspan(static_cast<size_t>(q.axis) + 1));
  for (i64 at = 0, c = 0; at < total; at += inner, c = (c + 1) % channels)
    round_to_grid(in[0].data + at, out[0].data + at, inner, q.scale[c], q.zero_point[c], q.low,
                  q.high);
}

}  // namespace deuteron

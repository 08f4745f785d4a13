// SPDX-License-Identifier: Apache-2.0
#include "npu/neutron/machine/kernel.h"

#include "npu/neutron/kernels/convolution/product.h"
#include "npu/neutron/kernels/convolution_pool/call.h"

namespace deuteron::neutron {
namespace {

// A window of a pool that fits a tile shares it with the next windows; a larger one takes several
// tiles.
void convolve_and_pool(Kind kind, const ConvPoolCall& p, const Memory& memory) {
  const ConvCall& a = p.conv;
  const int8_t *x = memory.read(a.x), *weights = memory.read(a.weights),
               *params = memory.read(a.params);
  int8_t* y = memory.write(a.y);
  const int64_t group_bytes = conv_weight_bytes(kind, a) / ((a.out_c + kUnits - 1) / kUnits);
  const int32_t rows = a.out_h / p.pool_h, columns = a.out_w / p.pool_w,
                window = p.pool_h * p.pool_w;
  const int32_t results = a.n * rows * columns, at_once = window < kTile ? kTile / window : 1;
  Tile tile;
  for (int32_t done = 0; done < results; done += at_once) {
    const int32_t count = results - done < at_once ? results - done : at_once;
    for (int32_t oc = 0; oc < a.out_c; oc += kUnits) {
      const int32_t units = a.out_c - oc < kUnits ? a.out_c - oc : kUnits;
      int32_t value[kTile][kUnits];
      for (auto& of_result : value)
        for (int32_t& v : of_result) v = p.average != 0 ? 0 : -128;
      for (int32_t taken = 0; taken < window; taken += kTile) {
        const int32_t of_window = window - taken < kTile ? window - taken : kTile;
        tile.count = count * of_window;
        for (int32_t i = 0; i < tile.count; ++i) {
          const int32_t result = done + i / of_window, tap = taken + i % of_window;
          const int32_t row = result / columns % rows, column = result % columns;
          tile.image[i] = x + int64_t{result / (rows * columns)} * a.h * a.w * a.x_pitch;
          tile.top[i] = (row * p.pool_h + tap / p.pool_w) * a.stride_h - a.pad_top;
          tile.left[i] = (column * p.pool_w + tap % p.pool_w) * a.stride_w - a.pad_left;
        }
        Sums sums = {};
        sum(kind, a, tile, weights + oc / kUnits * group_bytes, sums);
        for (int32_t unit = 0; unit < units; ++unit) {
          const ChannelParams of = params_of(params, oc + unit);
          for (int32_t i = 0; i < tile.count; ++i) {
            const int32_t biased =
                static_cast<int32_t>(sums[i][unit] + static_cast<uint32_t>(of.bias));
            const int32_t v = finish(biased, of.multiplier, of.shift, a.y_zero, a.y_min, a.y_max);
            int32_t& so_far = value[i / of_window][unit];
            so_far = p.average != 0 ? so_far + v : v > so_far ? v : so_far;
          }
        }
      }
      for (int32_t i = 0; i < count; ++i)
        for (int32_t unit = 0; unit < units; ++unit) {
          int32_t v = value[i][unit];
          if (p.average != 0) v = (v > 0 ? v + window / 2 : v - window / 2) / window;
          y[int64_t{done + i} * a.y_pitch + oc + unit] =
              static_cast<int8_t>(clamp_to(v, p.pool_min, p.pool_max));
        }
    }
  }
}

}  // namespace
}  // namespace deuteron::neutron

DEUTERON_NEUTRON_KERNEL(Conv2DStandardV1Pool, convolve_and_pool(convolution_of(kind), a, memory))
DEUTERON_NEUTRON_KERNEL(Conv2DStandardV2Pool, convolve_and_pool(convolution_of(kind), a, memory))
DEUTERON_NEUTRON_KERNEL(Conv2DPointwisePool, convolve_and_pool(convolution_of(kind), a, memory))

// SPDX-License-Identifier: Apache-2.0
// The results of a convolution, one by one, for the kernels that end in different ways.
#pragma once
#include "npu/neutron/kernels/convolution/product.h"
#include "npu/neutron/machine/kernel.h"

namespace deuteron::neutron {

// end(result, channel, value): the int8 of the convolution, within its bounds. Results are counted
// in the order of y, [n, out_h, out_w].
template <class End>
void for_each_result(Kind kind, const ConvCall& a, const Memory& memory, End end) {
  const int8_t *x = memory.read(a.x), *weights = memory.read(a.weights),
               *params = memory.read(a.params);
  const bool transposed = kind == Kind::kConv2DTransposed;
  const int64_t group_bytes = conv_weight_bytes(kind, a) / ((a.out_c + kUnits - 1) / kUnits);
  const int32_t results = a.n * a.out_h * a.out_w;
  int32_t n = 0, oh = 0, ow = 0;
  Tile tile;
  for (int32_t done = 0; done < results; done += tile.count) {
    tile.count = results - done < kTile ? results - done : kTile;
    for (int32_t i = 0; i < tile.count; ++i) {
      tile.image[i] = x + int64_t{n} * a.h * a.w * a.x_pitch;
      tile.top[i] = transposed ? oh + a.pad_top : oh * a.stride_h - a.pad_top;
      tile.left[i] = transposed ? ow + a.pad_left : ow * a.stride_w - a.pad_left;
      if (++ow < a.out_w) continue;
      ow = 0;
      if (++oh < a.out_h) continue;
      oh = 0;
      ++n;
    }
    for (int32_t oc = 0; oc < a.out_c; oc += kUnits) {
      Sums sums = {};
      sum(kind, a, tile, weights + oc / kUnits * group_bytes, sums);
      const int32_t units = a.out_c - oc < kUnits ? a.out_c - oc : kUnits;
      for (int32_t unit = 0; unit < units; ++unit) {
        const ChannelParams p = params_of(params, oc + unit);
        for (int32_t i = 0; i < tile.count; ++i) {
          const int32_t biased =
              static_cast<int32_t>(sums[i][unit] + static_cast<uint32_t>(p.bias));
          end(done + i, oc + unit,
              finish(biased, p.multiplier, p.shift, a.y_zero, a.y_min, a.y_max));
        }
      }
    }
  }
}

}  // namespace deuteron::neutron

// Dense products over packed weights: convolutions, transposed convolution, fully connected. A tile is some results for eight channels;
// each block of 8 channels x 8 lanes of weights is widened to 16 bits once for all results of the tile. An input without its zero point
// (-255..255) times a weight fits 16 bits, and the inner loop is eight products into eight sums, which compilers vectorise.
#include "backends/neutron_model/kernel.h"

namespace deuteron::neutron {
namespace {

constexpr int32_t kTile = 16, kUnits = 8, kLanes = 8;

// The results of a tile: the image that each reads, and where its window starts.
struct Tile {
  int32_t count;
  const int8_t* image[kTile];
  int32_t top[kTile], left[kTile];
};

struct Weights {
  int16_t by_lane[kLanes][kUnits];
  void widen(const int8_t* block) {
    for (int32_t unit = 0; unit < kUnits; ++unit)
      for (int32_t lane = 0; lane < kLanes; ++lane) by_lane[lane][unit] = block[unit * kLanes + lane];
  }
};

inline void multiply_add(const int16_t (&x)[kLanes], const Weights& w, uint32_t (&sums)[kUnits]) {
  for (int32_t lane = 0; lane < kLanes; ++lane)
    for (int32_t unit = 0; unit < kUnits; ++unit) sums[unit] += static_cast<uint32_t>(x[lane] * w.by_lane[lane][unit]);
}

inline void load(const int8_t* from, int32_t lanes, int32_t zero, int16_t (&x)[kLanes]) {
  if (lanes >= kLanes) {
    for (int32_t lane = 0; lane < kLanes; ++lane) x[lane] = static_cast<int16_t>(from[lane] - zero);
    return;
  }
  for (int32_t lane = 0; lane < kLanes; ++lane) x[lane] = static_cast<int16_t>(lane < lanes ? from[lane] - zero : 0);
}

using Sums = uint32_t[kTile][kUnits];

// A tap of the window for all results: pixel[i] is what it meets, null outside. Returns whether it meets anything.
bool meet(const ConvCall& a, const Tile& tile, int32_t kh, int32_t kw, bool transposed, const int8_t* (&pixel)[kTile]) {
  bool any = false;
  for (int32_t i = 0; i < tile.count; ++i) {
    int32_t ih = tile.top[i], iw = tile.left[i];
    bool inside = true;
    if (transposed) {  // top and left are the result's position plus the padding
      ih -= kh * a.dilation_h;
      iw -= kw * a.dilation_w;
      inside = ih >= 0 && iw >= 0 && ih % a.stride_h == 0 && iw % a.stride_w == 0;
      ih /= a.stride_h;
      iw /= a.stride_w;
    } else {
      ih += kh * a.dilation_h;
      iw += kw * a.dilation_w;
    }
    inside = inside && ih >= 0 && ih < a.h && iw >= 0 && iw < a.w;
    pixel[i] = inside ? tile.image[i] + (int64_t{ih} * a.w + iw) * a.x_pitch : nullptr;
    any = any || inside;
  }
  return any;
}

// Lanes over the channels of each tap.
void sum_by_channel(const ConvCall& a, const Tile& tile, const int8_t* weights, bool transposed, Sums& sums) {
  const int8_t* pixel[kTile];
  const int32_t blocks = (a.c + kLanes - 1) / kLanes;
  for (int32_t kh = 0; kh < a.kernel_h; ++kh)
    for (int32_t kw = 0; kw < a.kernel_w; ++kw, weights += int64_t{blocks} * kUnits * kLanes) {
      if (!meet(a, tile, kh, kw, transposed, pixel)) continue;
      for (int32_t block = 0; block < blocks; ++block) {
        Weights w;
        w.widen(weights + int64_t{block} * kUnits * kLanes);
        const int32_t c = block * kLanes;
        for (int32_t i = 0; i < tile.count; ++i) {
          if (pixel[i] == nullptr) continue;
          int16_t x[kLanes];
          load(pixel[i] + c, a.c - c, a.x_zero, x);
          multiply_add(x, w, sums[i]);
        }
      }
    }
}

// Lanes over the columns and channels of each row of the window, which lie one behind the other in x when its pixels have no gaps.
void load_row(const ConvCall& a, const int8_t* row, int32_t left, int32_t first, int16_t (&x)[kLanes]) {
  for (int32_t lane = 0; lane < kLanes; ++lane) {
    const int32_t at = first + lane, column = at / a.c;
    const int32_t iw = left + column;
    const bool inside = column < a.kernel_w && iw >= 0 && iw < a.w;
    x[lane] = static_cast<int16_t>(inside ? row[int64_t{iw} * a.x_pitch + (at - column * a.c)] - a.x_zero : 0);
  }
}

void sum_by_row(const ConvCall& a, const Tile& tile, const int8_t* weights, Sums& sums) {
  const int32_t length = a.kernel_w * a.c, blocks = (length + kLanes - 1) / kLanes;
  for (int32_t kh = 0; kh < a.kernel_h; ++kh)
    for (int32_t block = 0; block < blocks; ++block, weights += kUnits * kLanes) {
      Weights w;
      w.widen(weights);
      const int32_t first = block * kLanes;
      for (int32_t i = 0; i < tile.count; ++i) {
        const int32_t ih = tile.top[i] + kh * a.dilation_h;
        if (ih < 0 || ih >= a.h) continue;
        const int8_t* row = tile.image[i] + int64_t{ih} * a.w * a.x_pitch;
        int16_t x[kLanes];
        const bool whole = a.x_pitch == a.c && tile.left[i] >= 0 && tile.left[i] + a.kernel_w <= a.w;
        if (whole) load(row + int64_t{tile.left[i]} * a.c + first, length - first, a.x_zero, x);
        else load_row(a, row, tile.left[i], first, x);
        multiply_add(x, w, sums[i]);
      }
    }
}

void sum(Kind kind, const ConvCall& a, const Tile& tile, const int8_t* weights, Sums& sums) {
  if (kind == Kind::kConv2dStandardV2) sum_by_row(a, tile, weights, sums);
  else sum_by_channel(a, tile, weights, kind == Kind::kConv2dTransposed, sums);
}

void convolve(Kind kind, const ConvCall& a, const Memory& memory) {
  const int8_t *x = memory.read(a.x), *weights = memory.read(a.weights), *params = memory.read(a.params);
  int8_t* y = memory.write(a.y);
  const bool transposed = kind == Kind::kConv2dTransposed;
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
          const int32_t sum = static_cast<int32_t>(sums[i][unit] + static_cast<uint32_t>(p.bias));
          y[int64_t{done + i} * a.y_pitch + oc + unit] = finish(sum, p.multiplier, p.shift, a.y_zero, a.y_min, a.y_max);
        }
      }
    }
  }
}

// A window of a pool that fits a tile shares it with the next windows; a larger one takes several tiles.
void convolve_and_pool(Kind kind, const ConvPoolCall& p, const Memory& memory) {
  const ConvCall& a = p.conv;
  const int8_t *x = memory.read(a.x), *weights = memory.read(a.weights), *params = memory.read(a.params);
  int8_t* y = memory.write(a.y);
  const int64_t group_bytes = conv_weight_bytes(kind, a) / ((a.out_c + kUnits - 1) / kUnits);
  const int32_t rows = a.out_h / p.pool_h, columns = a.out_w / p.pool_w, window = p.pool_h * p.pool_w;
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
            const int32_t biased = static_cast<int32_t>(sums[i][unit] + static_cast<uint32_t>(of.bias));
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
          y[int64_t{done + i} * a.y_pitch + oc + unit] = static_cast<int8_t>(clamp_to(v, p.pool_min, p.pool_max));
        }
    }
  }
}

}  // namespace
}  // namespace deuteron::neutron

DEUTERON_NEUTRON_KERNEL(Conv2DStandardV1, ConvCall, deuteron::neutron::convolve(deuteron::neutron::Kind::kConv2dStandardV1, a, memory))
DEUTERON_NEUTRON_KERNEL(Conv2DStandardV2, ConvCall, deuteron::neutron::convolve(deuteron::neutron::Kind::kConv2dStandardV2, a, memory))
DEUTERON_NEUTRON_KERNEL(Conv2DPointwise, ConvCall, deuteron::neutron::convolve(deuteron::neutron::Kind::kConv2dPointwise, a, memory))
DEUTERON_NEUTRON_KERNEL(Conv2DTransposed, ConvCall, deuteron::neutron::convolve(deuteron::neutron::Kind::kConv2dTransposed, a, memory))
DEUTERON_NEUTRON_KERNEL(Conv2DStandardV1Pool, ConvPoolCall,
                        deuteron::neutron::convolve_and_pool(deuteron::neutron::Kind::kConv2dStandardV1, a, memory))
DEUTERON_NEUTRON_KERNEL(Conv2DStandardV2Pool, ConvPoolCall,
                        deuteron::neutron::convolve_and_pool(deuteron::neutron::Kind::kConv2dStandardV2, a, memory))
DEUTERON_NEUTRON_KERNEL(Conv2DPointwisePool, ConvPoolCall,
                        deuteron::neutron::convolve_and_pool(deuteron::neutron::Kind::kConv2dPointwise, a, memory))

extern "C" int32_t neutron_kernel_FullyConnected(const void* call, const void* memory) {
  const auto& a = *static_cast<const deuteron::neutron::FullyConnectedCall*>(call);
  deuteron::neutron::ConvCall c{a.x, a.y, a.weights, a.params, a.rows, 1, 1,     a.in,  a.in,     1,        1,       1,      1,
                                1,   1,   0,         0,        1,      1, a.out, a.out, a.x_zero, a.y_zero, a.y_min, a.y_max};
  return neutron_kernel_Conv2DPointwise(&c, memory);
}

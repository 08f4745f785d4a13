// Filters of packed weights against windows of int8, on the host: what packed convolutions spend their time in. The instruction set is
// chosen at run time. The bits are those of the portable kernels.
#pragma once
#include "ops/device/host_kernels.h"

namespace deuteron {

inline constexpr int32_t kHostBlock = 16, kHostTile = 4;  // elements of a block; filters of a tile
inline constexpr int32_t kHostTiles = 4;                  // of a panel
inline constexpr int32_t kHostWindows = 4;                // that a kernel takes at a time

// Up to four tiles. Weights as mve_4x16 has them (ops/dense/packing.h): blocks of 16 elements of each filter of a tile in turn.
//   sum[f] = first[f] + sum over e of x[e] * weight[f][e], modulo 2^32
//   y[f] = clamp(zero + (sum[f] * multiplier[f] + 2^(shift - 1)) / 2^shift, -128, 127), the quotient rounded down
struct HostPanel {
  const int8_t* weights[kHostTiles];
  int32_t tiles, blocks;
  int32_t first[kHostTiles][kHostTile], multiplier[kHostTiles][kHostTile];
  int32_t shift;  // 31 or 32
  int32_t zero;
  int32_t filters;             // of a tile, 1..4, whose results are written
  int32_t offset[kHostTiles];  // of a tile's first result behind a window's place
};

// Windows: elements with 128 added, as uint8. `blocks` * 16 bytes of each are read; they may overlap, and there are pointers to as many as
// `count` rounded up to a multiple of kHostWindows. places: where the results of each window begin, `count` of them.
using HostPanelKernel = void (*)(const HostPanel& panel, const uint8_t* const* windows, int8_t* const* places, int32_t count);
const HostKernels<HostPanelKernel>& host_panel_kernels();

}  // namespace deuteron

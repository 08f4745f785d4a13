// Tiles of four filters against windows of int8, on the host: what packed and plain convolutions spend their time in. The instruction set
// is chosen at run time. The bits are those of the portable kernels.
#pragma once
#include <cstdint>

namespace deuteron {

inline constexpr int32_t kHostBlock = 16, kHostTile = 4;  // elements of a block; filters of a tile

// Weights as mve_4x16 has them (ops/dense/packing.h): blocks of 16 elements of each filter in turn.
//   sum[f] = first[f] + sum over e of x[e] * weight[f][e], modulo 2^32
//   y[f] = clamp(zero + (sum[f] * multiplier[f] + 2^(shift - 1)) / 2^shift, -128, 127), the quotient rounded down
struct HostTile {
  const int8_t* weights;
  int32_t blocks;
  int32_t first[kHostTile], multiplier[kHostTile];
  int32_t shift;  // 31 or 32
  int32_t zero;
};

// Windows: elements with 128 added, as uint8, `blocks` * 16 bytes each. `count`: a multiple of 4. y: [count][4].
using HostTileKernel = void (*)(const HostTile& tile, const uint8_t* windows, int32_t count, int8_t* y);

// Those that this processor has, best first; none where it has no AVX2.
struct HostTileKernels {
  HostTileKernel kernel[2];
  int32_t count;
};
const HostTileKernels& host_tile_kernels();

}  // namespace deuteron

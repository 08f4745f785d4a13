// Portable permutation. Two innermost dimensions with a far step go in tiles, so that each line of memory is read once.
#include "ops/permute/kernel.h"

#include <cstddef>
#include <cstring>

namespace deuteron {
namespace {

// Bytes of a line of a cache, and small enough that a tile of lines fits any.
constexpr int32_t kTile = 32;

void plane(const PermuteArgs& a, const int8_t* x, int8_t* y) {
  const int32_t rows = a.extent[2], columns = a.extent[3], down = a.step[2], across = a.step[3];
  if (across == 1) {
    for (int32_t r = 0; r < rows; ++r)
      if (columns > 0) std::memcpy(y + r * columns, x + r * down, static_cast<size_t>(columns));
    return;
  }
  for (int32_t r0 = 0; r0 < rows; r0 += kTile)
    for (int32_t c0 = 0; c0 < columns; c0 += kTile) {
      const int32_t r1 = rows - r0 < kTile ? rows : r0 + kTile, c1 = columns - c0 < kTile ? columns : c0 + kTile;
      for (int32_t r = r0; r < r1; ++r)
        for (int32_t c = c0; c < c1; ++c) y[r * columns + c] = x[r * down + c * across];
    }
}

}  // namespace

void permute_s8(const PermuteArgs& a, const int8_t* x, int8_t* y) {
  const int32_t size = a.extent[2] * a.extent[3];
  for (int32_t i = 0; i < a.extent[0]; ++i)
    for (int32_t j = 0; j < a.extent[1]; ++j, y += size) plane(a, x + i * a.step[0] + j * a.step[1], y);
}

}  // namespace deuteron

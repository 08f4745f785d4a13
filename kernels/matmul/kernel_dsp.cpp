// SPDX-License-Identifier: Apache-2.0
// Matrix product with the DSP extension: rows of both matrices are widened, and meet four by two
// (kernels/matmul/tile_dsp.h).
#include <cstring>

#include "kernels/dense/dot_dsp.h"
#include "kernels/matmul/by_linear.h"
#include "kernels/matmul/tile_dsp.h"

namespace deuteron {
namespace {

// elements of rows that lie widened on the stack: 68 of 32 elements, 32 of 64
constexpr int32_t kRoom = 2304;

uint32_t both(int32_t offset) {
  const uint32_t low = static_cast<uint32_t>(offset) & 0xffff;
  return low << 16 | low;
}

// The elements behind the last quad, then zeros.
struct Ends {
  int8_t quads[4][kDspQuad];
  const int8_t* of(int32_t i, const int8_t* row, int32_t inner, int32_t offset) {
    const int32_t rest = inner % kDspQuad;
    for (int32_t k = 0; k < kDspQuad; ++k)
      quads[i][k] = k < rest ? row[inner - rest + k] : static_cast<int8_t>(-offset);
    return quads[i];
  }
};

void widen_rows(const MatmulArgs& a, const int8_t* x, int16_t* to) {
  const uint32_t offset = both(a.x_offset);
  const int8_t* const rows[] = {x, x + a.inner, x + 2 * a.inner, x + 3 * a.inner};
  to = deuteron_widen_four_dsp(rows, a.inner / kDspQuad, to, offset);
  if (a.inner % kDspQuad == 0) return;
  Ends ends;
  const int8_t* last[4];
  for (int32_t i = 0; i < 4; ++i) last[i] = ends.of(i, rows[i], a.inner, a.x_offset);
  deuteron_widen_four_dsp({last[0], last[1], last[2], last[3]}, 1, to, offset);
}

void widen_pair(const MatmulArgs& a, const int8_t* other, int16_t* to) {
  const uint32_t offset = both(a.other_offset);
  const int8_t* const second = other + a.inner;
  to = deuteron_widen_two_dsp(other, second, a.inner / kDspQuad, to, offset);
  if (a.inner % kDspQuad == 0) return;
  Ends ends;
  const int8_t *last = ends.of(0, other, a.inner, a.other_offset),
               *last_second = ends.of(1, second, a.inner, a.other_offset);
  deuteron_widen_two_dsp(last, last_second, 1, to, offset);
}

// A last group of rows, and a last pair of columns, overlap their neighbours.
void run_tiles(const MatmulArgs& a, const int8_t* x, const int8_t* other, int8_t* y) {
  alignas(4) int16_t room[kRoom];
  const int32_t quads = (a.inner + kDspQuad - 1) / kDspQuad, padded = quads * kDspQuad;
  const int32_t group = 4 * padded;
  const int32_t fit = (kRoom - 2 * padded) / group, last = a.rows - 4;
  int16_t* const pair = room + fit * group;
  const int32_t right = -a.shift;
  DspTiles tiles{room,      pair,    pair + 2 * padded, 0,     nullptr,
                 a.columns, nullptr, a.multiplier,      right, a.y_zero};
  if (right == 0) tiles.multiplier *= 2;
  else tiles.added = a.y_zero * (1 << right) + (1 << right >> 1);
  for (int32_t begin = 0; begin < a.rows; begin += 4 * fit) {
    const int32_t left = (a.rows - begin + 3) / 4, first = begin < last ? begin : last;
    tiles.groups = left < fit ? left : fit;
    int32_t row = first;
    for (int32_t g = 0; g < tiles.groups; ++g) {
      row = begin + 4 * g < last ? begin + 4 * g : last;
      widen_rows(a, x + row * a.inner, room + g * group);
    }
    for (int32_t c = 0; c < a.columns; c += 2) {
      const int32_t column = c < a.columns - 2 ? c : a.columns - 2;
      widen_pair(a, other + column * a.inner, pair);
      tiles.y = y + first * a.columns + column, tiles.last_y = y + row * a.columns + column;
      deuteron_tiles_dsp(&tiles);
    }
  }
}

}  // namespace

void matmul_s8_dsp(const MatmulArgs& a, const int8_t* x, const int8_t* other, int8_t* y) {
  if (!meets_dsp_tiles(a)) return matmul_by<linear_s8_dsp>(a, x, other, y);
  for (int32_t b = 0; b < a.batch; ++b)
    run_tiles(a, x + b * a.rows * a.inner, other + b * a.columns * a.inner,
              y + b * a.rows * a.columns);
}

}  // namespace deuteron

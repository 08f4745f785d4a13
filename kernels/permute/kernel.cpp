// SPDX-License-Identifier: Apache-2.0
// Portable permutation: rows that are one run of memory in both are copied. Else one dimension lies
// in one piece in x and another one in y, and between these two blocks of 4 x 4 bytes are turned
// within words. Few elements along either go one by one, along the longest dimension.
#include "kernels/permute/kernel.h"

#include <cstddef>

#include "kernels/copy/row.h"
#include "kernels/integer/words.h"

namespace deuteron {
namespace {

// A dimension: its neighbours lie so far apart in x and in y.
struct TurnedAxis {
  int32_t extent, from, to;
};
struct TurnedAxes {
  TurnedAxis axis[4];
};

constexpr int32_t kTurnedBlock = 4;
// Bytes of a line of a cache: blocks go so far along x before they go on along y, so that each line
// is read and written once.
constexpr int32_t kTurnedTile = 32;

// Four bytes of four lines of x become four bytes of four lines of y.
inline void turn_block(const int8_t* x, int32_t from, int8_t* y, int32_t to) {
  constexpr uint32_t kEven = 0x00ff00ffu;
  uint32_t a = four_at(x), b = four_at(x + from), c = four_at(x + 2 * from),
           d = four_at(x + 3 * from);
  const uint32_t ab = ((a >> 8) ^ b) & kEven, cd = ((c >> 8) ^ d) & kEven;
  a ^= ab << 8, b ^= ab, c ^= cd << 8, d ^= cd;  // a0 b0 a2 b2, a1 b1 a3 b3, ..
  put_four(y, lower_halves(a, c));
  put_four(y + to, lower_halves(b, d));
  put_four(y + 2 * to, upper_halves(a, c));
  put_four(y + 3 * to, upper_halves(b, d));
}

// `along` lies in one piece in x, `across` in y; both have at least 4 elements. What is behind the
// last whole block is in one that overlaps.
[[gnu::noinline]] void turn_plane(const TurnedAxis& along, const TurnedAxis& across,
                                  const int8_t* x, int8_t* y) {
  const int32_t from = across.from, to = along.to;
  for (int32_t first = 0; first < along.extent; first += kTurnedTile) {
    const int32_t count = along.extent - first < kTurnedTile ? along.extent - first : kTurnedTile,
                  rest = count % kTurnedBlock;
    for (int32_t done = 0; done < across.extent; done += kTurnedBlock) {
      const int32_t at = across.extent - done < kTurnedBlock ? across.extent - kTurnedBlock : done;
      const int8_t* in = x + at * from + first;
      int8_t* out = y + first * to + at;
      for (int32_t n = count / kTurnedBlock; n > 0;
           --n, in += kTurnedBlock, out += kTurnedBlock * to)
        turn_block(in, from, out, to);
      if (rest != 0)
        turn_block(in - (kTurnedBlock - rest), from, out - (kTurnedBlock - rest) * to, to);
    }
  }
}

[[gnu::noinline]] void move_line(const TurnedAxis& along, const int8_t* x, int8_t* y) {
  const int32_t from = along.from, to = along.to;
  int32_t n = along.extent;
  for (; n >= 4; n -= 4, x += 4 * from, y += 4 * to) {
    const int8_t a = x[0], b = x[from], c = x[2 * from], d = x[3 * from];
    y[0] = a, y[to] = b, y[2 * to] = c, y[3 * to] = d;
  }
  for (; n > 0; --n, x += from, y += to) *y = *x;
}

// move(x, y) at each place of two dimensions.
template <class Move>
inline void each_turned_place(const TurnedAxis& outer, const TurnedAxis& inner, const int8_t* x,
                              int8_t* y, const Move& move) {
  for (int32_t i = 0; i < outer.extent; ++i)
    for (int32_t j = 0; j < inner.extent; ++j)
      move(x + i * outer.from + j * inner.from, y + i * outer.to + j * inner.to);
}

}  // namespace

void permute_s8(const PermuteArgs& a, const int8_t* x, int8_t* y) {
  TurnedAxes all;
  for (int k = 3, to = 1; k >= 0; to *= a.extent[k--]) all.axis[k] = {a.extent[k], a.step[k], to};
  const TurnedAxis &rows = all.axis[2], &columns = all.axis[3];
  if (columns.from == 1)
    return each_turned_place(all.axis[0], all.axis[1], x, y, [&](const int8_t* from, int8_t* to) {
      copy_rows_of({reinterpret_cast<const uint8_t*>(from), reinterpret_cast<uint8_t*>(to),
                    rows.from, rows.to, rows.extent},
                   static_cast<size_t>(columns.extent));
    });
  int along = 2, longest = 3;
  while (along > 0 && all.axis[along].from != 1) --along;
  for (int k = 2; k >= 0; --k)
    if (all.axis[k].extent > all.axis[longest].extent) longest = k;
  const TurnedAxis& piece = all.axis[along];
  const int other = along == 0 ? 1 : 0, last = 3 - along - other;  // of the three outer ones
  if (piece.from == 1 && piece.extent >= kTurnedBlock && columns.extent >= kTurnedBlock &&
      has_words(piece.extent | columns.extent, x, y))
    return each_turned_place(
        all.axis[other], all.axis[last], x, y,
        [&](const int8_t* from, int8_t* to) { turn_plane(piece, columns, from, to); });
  const TurnedAxis line = all.axis[longest];
  all.axis[longest] = all.axis[0];
  each_turned_place(all.axis[1], all.axis[2], x, y, [&](const int8_t* from, int8_t* to) {
    for (int32_t k = 0; k < columns.extent; ++k)
      move_line(line, from + k * columns.from, to + k * columns.to);
  });
}

}  // namespace deuteron

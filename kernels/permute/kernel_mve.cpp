// SPDX-License-Identifier: Apache-2.0
// Permutation with the M-profile Vector Extension: up to 16 neighbours along one dimension at a
// time, and such lines along another one, one after the other. Which dimensions these are is chosen
// by how many lines it makes. A line is gathered, or scattered, or both, by offsets within a byte
// where 16 of them fit, else within 16 bits.
#include <arm_mve.h>

#include "kernels/permute/kernel.h"

namespace deuteron {
namespace {

// A dimension: its neighbours lie so far apart in x and in y.
struct PermuteAxis {
  int32_t extent, from, to;
};
struct PermuteAxes {
  PermuteAxis axis[4];
};

constexpr int32_t kPermuteBytes = 16,
                  kPermuteHalves = 8;  // elements of a line, by the size of their offsets
// bytes of a row from which on a loop for each of them takes fewer instructions
constexpr int32_t kPermuteCopied = 33;
constexpr int32_t kPermuteNear = UINT8_MAX / (kPermuteBytes - 1);

int32_t permute_lanes(const PermuteAxis& axis) {
  const int32_t far = axis.from > axis.to ? axis.from : axis.to;
  if (far <= kPermuteNear) return kPermuteBytes;
  return far <= UINT16_MAX / (kPermuteHalves - 1) ? kPermuteHalves : UINT16_MAX / far + 1;
}

template <class Move>
inline void permute_each(const PermuteAxis& lines, const int8_t* x, int8_t* y, Move move) {
  const int32_t from = lines.from, to = lines.to;
  for (int32_t n = lines.extent; n > 0; --n, x += from, y += to) move(x, y);
}

void permute_near(const PermuteAxis& along, const PermuteAxis& lines, int32_t lanes,
                  const int8_t* x, int8_t* y) {
  const mve_pred16_t here = vctp8q(static_cast<uint32_t>(lanes));
  const uint8x16_t each = vidupq_n_u8(0, 1);
  const uint8x16_t in_x = vmulq_n_u8(each, static_cast<uint8_t>(along.from)),
                   in_y = vmulq_n_u8(each, static_cast<uint8_t>(along.to));
  if (along.to == 1 && along.from == 1)
    permute_each(lines, x, y, [&](const int8_t* from, int8_t* to) {
      vst1q_p_s8(to, vld1q_z_s8(from, here), here);
    });
  else if (along.to == 1)
    permute_each(lines, x, y, [&](const int8_t* from, int8_t* to) {
      vst1q_p_s8(to, vldrbq_gather_offset_z_s8(from, in_x, here), here);
    });
  else if (along.from == 1)
    permute_each(lines, x, y, [&](const int8_t* from, int8_t* to) {
      vstrbq_scatter_offset_p_s8(to, in_y, vld1q_z_s8(from, here), here);
    });
  else
    permute_each(lines, x, y, [&](const int8_t* from, int8_t* to) {
      vstrbq_scatter_offset_p_s8(to, in_y, vldrbq_gather_offset_z_s8(from, in_x, here), here);
    });
}

void permute_far(const PermuteAxis& along, const PermuteAxis& lines, int32_t lanes, const int8_t* x,
                 int8_t* y) {
  const mve_pred16_t here = vctp16q(static_cast<uint32_t>(lanes));
  const uint16x8_t each = vidupq_n_u16(0, 1);
  const uint16x8_t in_x = vmulq_n_u16(each, static_cast<uint16_t>(along.from)),
                   in_y = vmulq_n_u16(each, static_cast<uint16_t>(along.to));
  if (along.to == 1)
    permute_each(lines, x, y, [&](const int8_t* from, int8_t* to) {
      vstrbq_p_s16(to, vldrbq_gather_offset_z_s16(from, in_x, here), here);
    });
  else if (along.from == 1)
    permute_each(lines, x, y, [&](const int8_t* from, int8_t* to) {
      vstrbq_scatter_offset_p_s16(to, in_y, vldrbq_z_s16(from, here), here);
    });
  else
    permute_each(lines, x, y, [&](const int8_t* from, int8_t* to) {
      vstrbq_scatter_offset_p_s16(to, in_y, vldrbq_gather_offset_z_s16(from, in_x, here), here);
    });
}

inline void permute_swap(PermuteAxis& a, PermuteAxis& b) {
  const PermuteAxis kept = a;
  a = b, b = kept;
}

// The dimensions of the lines; the longest one is the innermost.
void permute_lines(const PermuteAxis& along, int32_t lanes, bool near, PermuteAxes all,
                   const int8_t* x, int8_t* y) {
  const auto& [outer, middle, inner, lines] = all.axis;
  for (int k = 0; k < 3; ++k)
    if (all.axis[k].extent > lines.extent) permute_swap(all.axis[k], all.axis[3]);
  for (int32_t i = 0; i < outer.extent; ++i)
    for (int32_t j = 0; j < middle.extent; ++j)
      for (int32_t k = 0; k < inner.extent; ++k) {
        const int8_t* from = x + i * outer.from + j * middle.from + k * inner.from;
        int8_t* to = y + i * outer.to + j * middle.to + k * inner.to;
        if (near) permute_near(along, lines, lanes, from, to);
        else permute_far(along, lines, lanes, from, to);
      }
}

// Rows that are one run of memory in both.
void permute_copy(const PermuteAxes& all, const int8_t* x, int8_t* y) {
  const auto& [outer, inner, rows, columns] = all.axis;
  for (int32_t i = 0; i < outer.extent; ++i)
    for (int32_t j = 0; j < inner.extent; ++j) {
      const int8_t* row = x + i * outer.from + j * inner.from;
      for (int32_t r = 0; r < rows.extent; ++r, row += rows.from, y += columns.extent) {
        const int8_t* from = row;
        int8_t* to = y;
        asm volatile(
            "dlstp.8 lr, %[count]\n"
            "1:\n"
            "vldrb.u8 q0, [%[from]], #16\n"
            "vstrb.8 q0, [%[to]], #16\n"
            "letp lr, 1b\n"
            : [from] "+&r"(from), [to] "+&r"(to)
            : [count] "r"(columns.extent)
            : "q0", "lr", "memory");
      }
    }
}

}  // namespace

void permute_s8_mve(const PermuteArgs& a, const int8_t* x, int8_t* y) {
  PermuteAxes all;
  for (int k = 3, to = 1; k >= 0; to *= a.extent[k--]) all.axis[k] = {a.extent[k], a.step[k], to};
  if (a.step[3] == 1 && a.extent[3] >= kPermuteCopied) return permute_copy(all, x, y);
  int32_t least = INT32_MAX, best = 3;
  for (int k = 3; k >= 0; --k) {
    if (a.extent[k] == 1) continue;
    const int32_t lanes = permute_lanes(all.axis[k]);
    int32_t lines = (a.extent[k] + lanes - 1) / lanes;
    for (int i = 0; i < 4; ++i) lines *= i == k ? 1 : a.extent[i];
    if (lines < least) least = lines, best = k;
  }
  const PermuteAxis along = all.axis[best];
  const int32_t lanes = permute_lanes(along), whole = along.extent / lanes,
                rest = along.extent % lanes;
  const bool near = lanes == kPermuteBytes;
  all.axis[best] = {whole, along.from * lanes, along.to * lanes};
  if (whole > 0) permute_lines(along, lanes, near, all, x, y);
  all.axis[best].extent = 1;
  if (rest > 0)
    permute_lines(along, rest, near, all, x + whole * lanes * along.from,
                  y + whole * lanes * along.to);
}

}  // namespace deuteron

// SPDX-License-Identifier: Apache-2.0
// Portable padding: runs of the constant and of x; or, where rows are short, the constant
// everywhere, then all rows.
#include "kernels/pad/kernel.h"

#include <cstddef>
#include <cstring>

#include "kernels/copy/row.h"
#include "kernels/pad/walk.h"

namespace deuteron {
namespace {

// bytes of a row up to which a call for each run takes more instructions
constexpr uint32_t kShortPaddedRow = 64;

void pad_short_rows(const PadArgs& a, const int8_t* x, int8_t* y) {
  const auto whole = [&](int k) { return a.before[k] + a.in[k] + a.after[k]; };
  const int32_t row = whole(3), plane = whole(2) * row, block = whole(1) * plane, bytes = a.in[3];
  if (whole(0) * block == 0) return;  // tensors without elements may lie nowhere
  std::memset(y, a.value, static_cast<size_t>(whole(0) * block));
  if (a.in[0] == 0 || a.in[1] == 0 || a.in[2] == 0 || bytes == 0) return;
  y += a.before[0] * block + a.before[1] * plane + a.before[2] * row + a.before[3];
  for (int32_t i0 = 0; i0 < a.in[0]; ++i0, y += block)
    for (int32_t i1 = 0; i1 < a.in[1]; ++i1, x += a.in[2] * bytes)
      copy_rows_of({reinterpret_cast<const uint8_t*>(x), reinterpret_cast<uint8_t*>(y + i1 * plane),
                    bytes, row, a.in[2]},
                   static_cast<size_t>(bytes));
}

}  // namespace

void pad_s8(const PadArgs& a, const int8_t* x, int8_t* y) {
  if (static_cast<uint32_t>(a.in[3]) <= kShortPaddedRow) return pad_short_rows(a, x, y);
  walk_padding(
      a, x, y,
      [&](int8_t* to, int32_t count) { std::memset(to, a.value, static_cast<size_t>(count)); },
      [](int8_t* to, const int8_t* from, int32_t count) {
        std::memcpy(to, from, static_cast<size_t>(count));
      });
}

}  // namespace deuteron

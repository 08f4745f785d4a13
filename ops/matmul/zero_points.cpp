// SPDX-License-Identifier: Apache-2.0
#include "ops/matmul/zero_points.h"

#include <cstdlib>

namespace deuteron {

// int8 numbers that add up to one of -127..128.
static std::vector<i32> in_int8(i32 number) {
  if (number == 0) return {};
  return number == 128 ? std::vector<i32>{127, 1} : std::vector<i32>{number};
}

// Columns whose products add up to `total`: as many of 127 * 127 as go into it, one of 127 *
// quotient, one of remainder * 1, and zeros.
static void add_known_sum(i64 total, InnerPieces& pieces) {
  if (total == 0) return;
  const i64 whole = std::abs(total) / (127 * 127), rest = std::abs(total) % (127 * 127),
            columns = (whole + 2 + 7) / 8 * 8;
  const i32 sign = total < 0 ? -1 : 1;
  pieces.x.push_back({whole + 1, 127});
  pieces.x.push_back({columns - whole - 1, static_cast<i32>(rest % 127)});
  if (whole > 0) pieces.other.push_back({whole, sign * 127});
  pieces.other.push_back({1, sign * static_cast<i32>(rest / 127)});
  pieces.other.push_back({1, sign});
  pieces.other.push_back({columns - whole - 2, 0});
}

InnerPieces without_zero_points(i32 x_zero, i32 other_zero, i64 inner) {
  const InnerPiece own{inner, {}};
  InnerPieces pieces{{own}, {own}};
  for (const i32 number : in_int8(-x_zero)) {
    pieces.x.push_back({inner, number});
    pieces.other.push_back(own);
  }
  for (const i32 number : in_int8(-other_zero)) {
    pieces.x.push_back(own);
    pieces.other.push_back({inner, number});
  }
  add_known_sum(inner * x_zero * other_zero, pieces);
  return pieces;
}

i64 InnerPieces::extent() const {
  i64 sum = 0;
  for (const InnerPiece& piece : x) sum += piece.extent;
  return sum;
}

}  // namespace deuteron

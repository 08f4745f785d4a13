// SPDX-License-Identifier: Apache-2.0
// The cheapest way to part a set of nodes in two, where each node has a price on either side and
// neighbours on different sides pay.
#pragma once
#include <vector>

#include "base/tensor/type.h"

namespace deuteron {

struct TwoSides {
  std::vector<i64> here, there;  // by node: its price on each side
  struct Pair {
    i32 a, b;
    i64 price;  // when they are apart
  };
  std::vector<Pair> pairs;
  std::vector<Pair>
      one_way;  // the price is paid when a is here and b is there, not the other way round
};
inline constexpr i64 kNever = i64{1} << 40;  // as the price of a side: not there

// By node: whether it is `here`. A minimum cut by augmenting shortest paths (Edmonds, Karp 1972):
// O(nodes * pairs^2), and far less on graphs that are nearly chains.
std::vector<bool> cheapest_sides(const TwoSides& sides);

}  // namespace deuteron

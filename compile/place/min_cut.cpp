// SPDX-License-Identifier: Apache-2.0
#include "compile/place/min_cut.h"

#include <algorithm>

namespace deuteron {

std::vector<bool> cheapest_sides(const TwoSides& s) {
  // Source: here. Sink: there. A node that ends with the sink pays the edge from the source, its
  // price there.
  const auto n = static_cast<i32>(s.here.size());
  const i32 source = n, sink = n + 1;
  struct Edge {
    i32 to;
    i64 left;
  };
  std::vector<Edge> edges;  // k and k ^ 1 are the two directions
  std::vector<std::vector<i32>> out(static_cast<size_t>(n) + 2);
  const auto join = [&](i32 a, i32 b, i64 forth, i64 back) {
    out[a].push_back(static_cast<i32>(edges.size()));
    edges.push_back({b, forth});
    out[b].push_back(static_cast<i32>(edges.size()));
    edges.push_back({a, back});
  };
  for (i32 k = 0; k < n; ++k) {
    join(source, k, s.there[k], 0);
    join(k, sink, s.here[k], 0);
  }
  for (const TwoSides::Pair& p : s.pairs) join(p.a, p.b, p.price, p.price);
  for (const TwoSides::Pair& p : s.one_way) join(p.a, p.b, p.price, 0);

  std::vector<i32> by(out.size());  // edge by which a node was reached
  const auto reach = [&] {
    std::fill(by.begin(), by.end(), -1);
    std::vector<i32> queue{source};
    for (size_t head = 0; head < queue.size(); ++head)
      for (const i32 e : out[queue[head]])
        if (const i32 to = edges[e].to; edges[e].left > 0 && to != source && by[to] < 0)
          by[to] = e, queue.push_back(to);
    return by[sink] >= 0;
  };
  while (reach()) {
    i64 least = edges[by[sink]].left;
    for (i32 at = sink; at != source; at = edges[by[at] ^ 1].to)
      least = std::min(least, edges[by[at]].left);
    for (i32 at = sink; at != source; at = edges[by[at] ^ 1].to)
      edges[by[at]].left -= least, edges[by[at] ^ 1].left += least;
  }
  std::vector<bool> here(static_cast<size_t>(n));
  for (i32 k = 0; k < n; ++k) here[k] = by[k] >= 0;
  return here;
}

}  // namespace deuteron

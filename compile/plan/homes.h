// SPDX-License-Identifier: Apache-2.0
// Which values of a lowered graph need no memory of their own: views of another value, and parts
// that are written straight into the whole.
#pragma once
#include <vector>

#include "ir/graph.h"
#include "ops/families.h"

namespace deuteron {

// Says where values lie and is no call; in a graph that is lowered.
inline bool takes_no_time(const Op& op) { return facts_of(op).storage != Storage::own; }

// Where each value lies. Nodes that are no kernel calls take no time and only say this: a Reshape
// and a contiguous Slice lie inside their operand, the operands of a Concat inside its result.
class Homes {
 public:
  explicit Homes(const Graph& g);

  struct Place {
    ValueId root;  // whose memory
    i64 offset;    // bytes from its beginning
  };
  Place of(ValueId v) const;

  // Whether a Concat can stay without a copy when everything before it lies as it does now; if so
  // its operands move in.
  bool move_in(const Graph& g, const Node& concat);
  // Enters a node: called once for each, in execution order.
  void enter(const Graph& g, const Node& node);

  Homes() = default;
  void resize(size_t values);

 private:
  std::vector<Place> parent_;  // of itself: a root
};

}  // namespace deuteron

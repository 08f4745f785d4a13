// SPDX-License-Identifier: Apache-2.0
// Operators that share 1 out along an axis, as softmax does, and how far below the largest number
// of a row they see: what lies further down shows in no int8 result.
#pragma once
#include <span>
#include <vector>

#include "ir/graph.h"

namespace deuteron {

// Its result has the same steps in every network.
bool has_fixed_steps(const Op&);

// The axis along which it shares 1 out; -1: it does not.
i64 shared_axis(const Op&);

// Rows along an axis of a shape.
struct RowsAlong {
  i64 count = 0, inner = 1;  // numbers in a row, and how far apart
};
RowsAlong rows_along(const Shape& shape, i64 axis);

// What all rows can be cut off at, and rows that are less certain, too; infinity where all are
// masked. Each number counts exp(x - largest): even if all but one lie log(512 count) below that
// one, together they take less than half a step, 1/512, from its result.
float lowest_seen(std::span<const float> data, RowsAlong rows);

class RowsSharedOut {
 public:
  explicit RowsSharedOut(const Graph& graph);
  float lowest_seen(ValueId v,
                    std::span<const float> data) const;  // infinity where v is not shared out

 private:
  std::vector<RowsAlong> rows_;  // by value; count 0: not shared out
};

}  // namespace deuteron

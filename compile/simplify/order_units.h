// SPDX-License-Identifier: Apache-2.0
// The order of units between fully connected layers.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "base/tensor/type.h"

namespace deuteron {

// Which units of a value were not zero: rows of `units` bytes each, 0 or 1.
struct ActiveUnits {
  i64 units = 0;
  std::vector<uint8_t> rows;
  std::vector<float> most;  // of each unit, over all rows
  i64 count() const { return units == 0 ? 0 : static_cast<i64>(rows.size()) / units; }
};

// Those that are most often not zero come first; of equal ones the larger, then as they stood. Only
// rows `first`, `first + step`, ... count.
std::vector<i32> by_activity(const ActiveUnits& seen, i64 first = 0, i64 step = 1);

// The share of the rows' elements that stand behind the last one that is not zero, in whole steps
// of `kernel_step`, as the order is found on every other row and measured on the rest, both ways:
// on rows that the order was not chosen on.
double share_left_out(const ActiveUnits& seen, i64 kernel_step);

}  // namespace deuteron

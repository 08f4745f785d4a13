// SPDX-License-Identifier: Apache-2.0
#include "ops/permute/collapse.h"

#include <algorithm>

namespace deuteron {

CollapsedPermute collapse(const Shape& shape, const Axes& perm) {
  // Runs of axes, in the order of the result, that follow each other in the operand too but for
  // axes of one element.
  struct Run {
    i64 first, extent;
  };
  std::vector<i64> next(shape.size(), -1);  // the next axis of more than one element
  i64 behind = -1;
  for (size_t k = shape.size(); k-- > 0;) {
    next[k] = behind;
    if (shape[k] != 1) behind = static_cast<i64>(k);
  }
  std::vector<Run> runs;
  i64 last = -1;
  for (const i64 axis : perm) {
    if (shape[axis] == 1) continue;
    if (last >= 0 && next[last] == axis) runs.back().extent *= shape[axis];
    else runs.push_back({axis, shape[axis]});
    last = axis;
  }
  if (runs.empty()) return {{1}, {0}};
  std::vector<Run> stored = runs;
  std::sort(stored.begin(), stored.end(),
            [](const Run& a, const Run& b) { return a.first < b.first; });
  CollapsedPermute c;
  for (const Run& run : stored) c.shape.push_back(run.extent);
  for (const Run& run : runs)
    c.perm.push_back(std::find_if(stored.begin(), stored.end(),
                                  [&](const Run& s) { return s.first == run.first; }) -
                     stored.begin());
  return c;
}

}  // namespace deuteron

// SPDX-License-Identifier: Apache-2.0
// Tables of positions for the tests of bilinear resizing.
#pragma once
#include <utility>
#include <vector>

#include "kernels/common/test_call.h"
#include "kernels/resize2d/kernel.h"

namespace deuteron {

// Any positions, the ends of the axis and of the weights among them.
inline std::vector<int32_t> any_positions(int32_t in, int32_t out, Random& random) {
  constexpr int32_t kOne = 1 << kResizeBits;
  std::vector<int32_t> table;
  for (int32_t k = 0; k < out; ++k) {
    const int32_t first = k == 0 ? in - 1 : random.in(0, in - 1);
    const int32_t weight = k == 1 ? kOne : k == 2 ? kOne / 2 : random.in(0, kOne);
    table.insert(table.end(), {first, first == in - 1 ? 0 : weight});
  }
  return table;
}

// The tables of both axes, as the next two arguments.
inline void add_positions(TestCall& call, const Resize2dArgs& a, Random& random) {
  for (const auto& [in, out] : {std::pair(a.in_h, a.out_h), std::pair(a.in_w, a.out_w)}) {
    const std::vector<int32_t> table = any_positions(in, out, random);
    Tensor& t = call.tensor(ScalarType::s32, {out, 2});
    std::memcpy(t.data, table.data(), table.size() * 4);
    t.constant = true;
  }
}

}  // namespace deuteron

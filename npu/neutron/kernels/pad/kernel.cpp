// SPDX-License-Identifier: Apache-2.0
#include "npu/neutron/machine/kernel.h"
#include "npu/neutron/kernels/pad/call.h"

namespace deuteron::neutron {
namespace {

void pad(const PadCall& a, const Memory& memory) {
  const int8_t* x = memory.read(a.x);
  int8_t* y = memory.write(a.y);
  int32_t whole[kMaxRank];
  for (int i = 0; i < kMaxRank; ++i) whole[i] = a.before[i] + a.extent[i] + a.after[i];
  const Strides from = dense_strides(a.extent), to = dense_strides(whole);
  int64_t bytes = 1, first = 0;
  for (int i = 0; i < kMaxRank; ++i) {
    bytes *= whole[i];
    first += int64_t{a.before[i]} * to.of[i];
  }
  std::memset(y, a.value, static_cast<size_t>(bytes));
  const Walk walk = walk_of(a.extent, from.of, to.of, nullptr);
  const auto count = static_cast<size_t>(walk.extent[walk.rank - 1]);
  // Both have no gaps along the last axis of the walk unless that axis is a single element.
  const bool strided =
      count > 1 && (walk.stride[0][walk.rank - 1] != 1 || walk.stride[1][walk.rank - 1] != 1);
  for_each_row(walk, [&](int32_t x_at, int32_t y_at, int32_t) {
    if (!strided) {
      std::memmove(y + first + y_at, x + x_at, count);  // operands of microcode may overlap
      return;
    }
    for (size_t i = 0; i < count; ++i)
      y[first + y_at + static_cast<int64_t>(i) * walk.stride[1][walk.rank - 1]] =
          x[x_at + static_cast<int64_t>(i) * walk.stride[0][walk.rank - 1]];
  });
}

}  // namespace
}  // namespace deuteron::neutron

DEUTERON_NEUTRON_KERNEL(Pad, pad(a, memory))

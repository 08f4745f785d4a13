// SPDX-License-Identifier: Apache-2.0
// For each result the reduced axes are walked; no sum is stored between results.
#include "npu/neutron/machine/kernel.h"

#include "npu/neutron/kernels/reduce/call.h"

namespace deuteron::neutron {
namespace {

struct Sum {
  static constexpr int32_t kStart = 0;
  static int32_t take(int32_t so_far, int32_t v, int32_t zero) { return so_far + v - zero; }
  static int32_t without_zero(int32_t sum, int32_t) { return sum; }
};
struct Most {
  static constexpr int32_t kStart = -128;
  static int32_t take(int32_t so_far, int32_t v, int32_t) { return v > so_far ? v : so_far; }
  static int32_t without_zero(int32_t v, int32_t zero) { return v - zero; }
};
struct Least {
  static constexpr int32_t kStart = 127;
  static int32_t take(int32_t so_far, int32_t v, int32_t) { return v < so_far ? v : so_far; }
  static int32_t without_zero(int32_t v, int32_t zero) { return v - zero; }
};

template <class How>
void reduce(const ReduceCall& a, bool only_extreme, const Memory& memory) {
  const int8_t* x = memory.read(a.x);
  int8_t* y = memory.write(a.y);
  const Strides strides = dense_strides(a.extent);
  int32_t kept[kMaxRank], reduced[kMaxRank];
  for (int i = 0; i < kMaxRank; ++i) {
    const bool goes = (a.axes >> i & 1) != 0;
    kept[i] = goes ? 1 : a.extent[i];
    reduced[i] = goes ? a.extent[i] : 1;
  }
  const Walk inner = walk_of(reduced, strides.of, nullptr, nullptr);
  const int32_t last = inner.rank - 1, count = inner.extent[last], step = inner.stride[0][last];
  const Walk outer = walk_of(kept, strides.of, nullptr, nullptr);
  const int32_t results = outer.extent[outer.rank - 1],
                result_step = outer.stride[0][outer.rank - 1];
  for_each_row(outer, [&](int32_t at, int32_t, int32_t) {
    for (int32_t r = 0; r < results; ++r) {
      const int8_t* from = x + at + int64_t{r} * result_step;
      int32_t value = How::kStart;
      for_each_row(inner, [&](int32_t offset, int32_t, int32_t) {
        for (int32_t i = 0; i < count; ++i)
          value = How::take(value, from[offset + int64_t{i} * step], a.x_zero);
      });
      *y++ = only_extreme ? static_cast<int8_t>(clamp_to(value, a.y_min, a.y_max))
                          : finish(How::without_zero(value, a.x_zero), a.multiplier, a.shift,
                                   a.y_zero, a.y_min, a.y_max);
    }
  });
}

}  // namespace
}  // namespace deuteron::neutron

DEUTERON_NEUTRON_KERNEL(GlobalAvgPool, reduce<Sum>(a, false, memory))
DEUTERON_NEUTRON_KERNEL(ReduceMean, reduce<Sum>(a, false, memory))
DEUTERON_NEUTRON_KERNEL(ReduceSum, reduce<Sum>(a, false, memory))
DEUTERON_NEUTRON_KERNEL(ReduceMax, reduce<Most>(a, a.multiplier == 0, memory))
DEUTERON_NEUTRON_KERNEL(ReduceMin, reduce<Least>(a, a.multiplier == 0, memory))

// SPDX-License-Identifier: Apache-2.0
#include "kernels/linear/once/kernel.h"

#include "kernels/common/host_clones.h"
#include "kernels/linear/once/rows.h"

namespace deuteron {
namespace {

// Four rows together, so that each number of v is read once for all. Sums by their names, and not
// inlined: gcc 12 keeps them in registers then.
struct RowsTogether {
  template <int32_t rows>
  [[gnu::noinline]] static void sum(const int8_t* first, int32_t step, const int8_t* v,
                                    int32_t count, int32_t (&sums)[rows]) {
    static_assert(rows == 1 || rows == 4);
    const int8_t *const w0 = first, *const w1 = w0 + step, *const w2 = w1 + step,
                        *const w3 = w2 + step;
    int32_t s0 = 0, s1 = 0, s2 = 0, s3 = 0;
    for (int32_t i = 0; i < count; ++i) {
      const int32_t x = v[i];
      s0 += x * w0[i];
      if constexpr (rows == 4) s1 += x * w1[i], s2 += x * w2[i], s3 += x * w3[i];
    }
    sums[0] = s0;
    if constexpr (rows == 4) sums[1] = s1, sums[2] = s2, sums[3] = s3;
  }
};

}  // namespace

DEUTERON_HOST_CLONES void linear_once_s8(const LinearOnceArgs& a, const int8_t* x,
                                         const int8_t* weight, const int32_t* first,
                                         const int32_t* multiplier, const int32_t* shift,
                                         int8_t* y) {
  linear_once_with<RowsTogether>(a, x, weight, first, multiplier, shift, y);
}

}  // namespace deuteron

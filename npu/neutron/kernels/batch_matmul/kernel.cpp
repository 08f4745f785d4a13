// SPDX-License-Identifier: Apache-2.0
#include "npu/neutron/machine/kernel.h"

#include "npu/neutron/kernels/batch_matmul/call.h"

namespace deuteron::neutron {
namespace {

constexpr int32_t kColumns = 8;

void multiply(const MatMulCall& a, const Memory& memory) {
  const int8_t *x = memory.read(a.x), *other = memory.read(a.other);
  int8_t* y = memory.write(a.y);
  for (int32_t b = 0; b < a.batch; ++b)
    for (int32_t m = 0; m < a.m; ++m, y += a.n) {
      const int8_t* row = x + int64_t{b} * a.x_batch_stride + int64_t{m} * a.x_m_stride;
      for (int32_t n = 0; n < a.n; n += kColumns) {
        const int32_t columns = a.n - n < kColumns ? a.n - n : kColumns;
        const int8_t* column =
            other + int64_t{b} * a.other_batch_stride + int64_t{n} * a.other_n_stride;
        uint32_t sums[kColumns] = {};
        for (int32_t k = 0; k < a.k; ++k) {
          const int32_t v = row[int64_t{k} * a.x_k_stride] - a.x_zero;
          const int8_t* w = column + int64_t{k} * a.other_k_stride;
          for (int32_t i = 0; i < columns; ++i)
            sums[i] += static_cast<uint32_t>(v * (w[int64_t{i} * a.other_n_stride] - a.other_zero));
        }
        for (int32_t i = 0; i < columns; ++i)
          y[n + i] = finish(static_cast<int32_t>(sums[i]), a.multiplier, a.shift, a.y_zero, a.y_min,
                            a.y_max);
      }
    }
}

}  // namespace
}  // namespace deuteron::neutron

DEUTERON_NEUTRON_KERNEL(BatchMatMul, multiply(a, memory))

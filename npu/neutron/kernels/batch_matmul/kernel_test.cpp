// SPDX-License-Identifier: Apache-2.0
#include "npu/neutron/kernels/batch_matmul/call.h"
#include "npu/neutron/machine/test_tensors.h"

namespace deuteron::neutron {
namespace {

using namespace test;

TEST(NeutronBatchMatMul, MatMulWithEitherOperandTransposedOrRepeated) {
  for (int way = 0; way < 8; ++way) {
    SCOPED_TRACE(way);
    const bool adj_x = way & 1, adj_y = way & 2, repeats = way & 4;
    const int batch = 3, m = 5, k = 19, n = 11, others = repeats ? 1 : batch;
    Random random(static_cast<uint32_t>(400 + way));
    MatMulCall a{};
    a.batch = batch, a.m = m, a.k = k, a.n = n;
    a.x_batch_stride = m * k, a.x_m_stride = adj_x ? 1 : k, a.x_k_stride = adj_x ? m : 1;
    a.other_batch_stride = repeats ? 0 : k * n, a.other_k_stride = adj_y ? 1 : n,
    a.other_n_stride = adj_y ? k : 1;
    a.x_zero = 7, a.other_zero = -20, a.y_zero = 4, a.multiplier = random.multiplier(),
    a.shift = -9, a.y_min = -128, a.y_max = 126;
    const Bytes x = random.bytes(batch * m * k), other = random.bytes(others * k * n);
    Model model;
    a.x = model.input(batch * m * k), a.other = model.input(others * k * n),
    a.y = model.output(batch * m * n);
    model.call(Kind::kBatchMatMul, a);
    Bytes want;
    for (int b = 0; b < batch; ++b)
      for (int i = 0; i < m; ++i)
        for (int j = 0; j < n; ++j) {
          int64_t sum = 0;
          for (int l = 0; l < k; ++l) {
            const int at = b * m * k + (adj_x ? l * m + i : i * k + l),
                      to = (repeats ? 0 : b * k * n) + (adj_y ? j * k + l : l * n + j);
            sum += int64_t{x[static_cast<size_t>(at)] - 7} * (other[static_cast<size_t>(to)] + 20);
          }
          want.push_back(end_of(sum, a.multiplier, a.shift, 4, -128, 126));
        }
    test::expect_same(test::result_of(model, {x, other}), want);
  }
}

}  // namespace
}  // namespace deuteron::neutron

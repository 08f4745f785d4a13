// SPDX-License-Identifier: Apache-2.0
#include <array>

#include "kernels/softmax/reference.h"
#include "npu/neutron/kernels/softmax/call.h"
#include "npu/neutron/machine/test_tensors.h"

namespace deuteron::neutron {
namespace {

using namespace test;

TEST(NeutronSoftmax, RowsOfSeveralLengths) {
  for (const auto& [rows, columns] : {std::array{1, 10}, {5, 3}, {3, 257}, {7, 1}}) {
    Random random(static_cast<uint32_t>(rows));
    Model model;
    SoftmaxCall a{model.input(rows * columns),
                  model.output(rows * columns),
                  rows,
                  columns,
                  1717986918,
                  22,
                  -248};
    model.call(Kind::kSoftmax, a);
    const Bytes x = random.bytes(rows * columns);
    Bytes want(x.size());
    softmax_reference({rows, columns, a.multiplier, a.shift, a.diff_min}, x.data(), want.data());
    test::expect_same(test::result_of(model, {x}), want);
  }
}

}  // namespace
}  // namespace deuteron::neutron

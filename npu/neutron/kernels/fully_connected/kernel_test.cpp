// SPDX-License-Identifier: Apache-2.0
#include <array>

#include "npu/neutron/kernels/convolution/test_convolution.h"
#include "npu/neutron/kernels/fully_connected/call.h"
#include "npu/neutron/machine/test_tensors.h"

namespace deuteron::neutron {
namespace {

using namespace test;

TEST(NeutronFullyConnected, AgainstTheDefinition) {
  for (const auto& [rows, in, out] :
       {std::array{1, 64, 10}, {3, 17, 9}, {21, 5, 1}, {2, 1, 13}, {1, 70001, 3}}) {
    Random random(static_cast<uint32_t>(300 + rows));
    FullyConnectedCall a{};
    a.rows = rows, a.in = in, a.out = out, a.x_zero = 11, a.y_zero = -3, a.y_min = -120,
    a.y_max = 119;
    const Bytes x = random.bytes(rows * in), weight = random.bytes(out * in);
    const std::vector<int32_t> params = random_params(random, out);
    ConvCall as_conv{};
    as_conv.kernel_h = as_conv.kernel_w = 1, as_conv.c = in, as_conv.out_c = out;
    Model model;
    a.x = model.input(rows * in), a.y = model.output(rows * out);
    a.weights = model.constant(pack(Kind::kConv2DPointwise, as_conv, weight)),
    a.params = model.params(params);
    model.call(Kind::kFullyConnected, a);
    Bytes want;
    for (int r = 0; r < rows; ++r)
      for (int o = 0; o < out; ++o) {
        int64_t sum = params[static_cast<size_t>(3 * o)];
        for (int i = 0; i < in; ++i)
          sum += int64_t{x[static_cast<size_t>(r * in + i)] - 11} *
                 weight[static_cast<size_t>(o * in + i)];
        want.push_back(end_of(sum, params[static_cast<size_t>(3 * o + 1)],
                              params[static_cast<size_t>(3 * o + 2)], -3, -120, 119));
      }
    test::expect_same(test::result_of(model, {x}), want);
  }
}

}  // namespace
}  // namespace deuteron::neutron

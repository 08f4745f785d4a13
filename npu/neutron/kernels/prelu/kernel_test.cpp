// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "npu/neutron/kernels/prelu/call.h"
#include "npu/neutron/machine/test_tensors.h"

namespace deuteron::neutron {
namespace {

using namespace test;

TEST(NeutronPrelu, PreluWithASlopeForEachChannelAndEachElement) {
  for (const Extents& alpha_extent : {Extents{1, 1, 1, 1, 1, 6}, Extents{1, 1, 2, 3, 5, 6},
                                      Extents{1, 1, 1, 1, 1, 1}, Extents{1, 1, 1, 3, 1, 6}}) {
    Random random(600);
    const Extents extent = {1, 1, 2, 3, 5, 6}, alpha_stride = strides_of(alpha_extent),
                  dense = strides_of(extent);
    PreluCall a{};
    std::copy(extent.begin(), extent.end(), a.extent);
    std::copy(alpha_stride.begin(), alpha_stride.end(), a.alpha_stride);
    a.x_zero = -17, a.alpha_zero = 5, a.y_zero = 9, a.positive_multiplier = random.multiplier(),
    a.positive_shift = 1;
    a.negative_multiplier = random.multiplier(), a.negative_shift = -6, a.y_min = -128,
    a.y_max = 125;
    Model model;
    const Bytes x = random.bytes(180), alpha = random.bytes(product(alpha_extent));
    a.x = model.input(180), a.alpha = model.constant(alpha), a.y = model.output(180);
    model.call(Kind::kPrelu, a);
    Bytes want;
    for (int32_t i = 0; i < 180; ++i) {
      const int64_t v = x[offset(i, extent, dense)] + 17,
                    slope = alpha[offset(i, extent, alpha_stride)] - 5;
      const int64_t y = v >= 0 ? requantize_reference(v, a.positive_multiplier, 1)
                               : requantize_reference(v * slope, a.negative_multiplier, -6);
      want.push_back(clamped(y + 9, -128, 125));
    }
    test::expect_same(test::result_of(model, {x}), want);
  }
}

}  // namespace
}  // namespace deuteron::neutron

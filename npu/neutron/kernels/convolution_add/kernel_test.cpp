// SPDX-License-Identifier: Apache-2.0
#include "npu/neutron/kernels/convolution/test_convolution.h"
#include "npu/neutron/kernels/convolution_add/call.h"
#include "npu/neutron/machine/test_tensors.h"

namespace deuteron::neutron {
namespace {

using namespace test;

constexpr ConvCase kCases[] = {
    {"standard, padded, gaps in x and y", Kind::kConv2DStandardV1, 2, 9, 7, 13, 3, 2, 5, 6, 11, 2,
     1, 1, 1, 1, 0, 4, 3},
    {"standard, dilated, one tile and a bit", Kind::kConv2DStandardV1, 1, 9, 8, 8, 3, 3, 5, 4, 9, 1,
     1, 2, 2, 0, 0},
    {"by rows, few channels", Kind::kConv2DStandardV2, 1, 13, 11, 3, 3, 3, 7, 6, 10, 2, 2, 1, 1, 1,
     1, 0, 1},
    {"pointwise", Kind::kConv2DPointwise, 1, 5, 7, 24, 1, 1, 5, 7, 16},
    {"pointwise, one result", Kind::kConv2DPointwise, 1, 1, 1, 5, 1, 1, 1, 1, 3},
};

ConvAddCall call_of(const ConvCase& k, int32_t other_gap, Random& random) {
  ConvAddCall p{};
  p.conv = call_of(k, random);
  p.method = static_cast<int32_t>(k.kind), p.other_pitch = k.oc + other_gap;
  p.left_shift = 20;
  p.x_zero = random.in(-128, 127), p.x_multiplier = random.multiplier(),
  p.x_shift = random.in(-3, 0);
  p.other_zero = random.in(-128, 127), p.other_multiplier = random.multiplier(),
  p.other_shift = random.in(-3, 0);
  p.sum_zero = random.in(-30, 30), p.sum_multiplier = random.multiplier(),
  p.sum_shift = random.in(-19, -17);
  p.sum_min = -121, p.sum_max = 117;
  return p;
}

TEST(NeutronConvolutionAdd, IsTheSumOfTheConvolutionAndTheOther) {
  uint32_t seed = 700;
  for (const ConvCase& k : kCases)
    for (const int32_t other_gap : {0, 5}) {
      SCOPED_TRACE(testing::Message() << k.name << ", gap " << other_gap);
      Random random(seed++);
      ConvAddCall p = call_of(k, other_gap, random);
      ConvCall& a = p.conv;
      const int32_t pixels = a.n * a.out_h * a.out_w;
      const Bytes weight = random.bytes(a.out_c * a.kernel_h * a.kernel_w * a.c),
                  x = random.bytes((a.n * a.h * a.w - 1) * a.x_pitch + a.c);
      const Bytes other = random.bytes((pixels - 1) * p.other_pitch + a.out_c);
      const std::vector<int32_t> params = random_params(random, a.out_c);
      const auto y_bytes = static_cast<size_t>((pixels - 1) * a.y_pitch + a.out_c);
      Bytes expected = reference(k.kind, a, x, weight, params, Bytes(y_bytes));
      for (int32_t pixel = 0; pixel < pixels; ++pixel)
        for (int32_t oc = 0; oc < a.out_c; ++oc) {
          int8_t& y = expected[static_cast<size_t>(pixel * a.y_pitch + oc)];
          const int64_t of_other =
              other[static_cast<size_t>(pixel * p.other_pitch + oc)] - p.other_zero;
          const int64_t u =
              requantize_reference((int64_t{y} - p.x_zero) << 20, p.x_multiplier, p.x_shift);
          const int64_t v = requantize_reference(of_other << 20, p.other_multiplier, p.other_shift);
          y = clamped(p.sum_zero + requantize_reference(u + v, p.sum_multiplier, p.sum_shift),
                      p.sum_min, p.sum_max);
        }
      Model model;
      a.x = model.input(static_cast<int64_t>(x.size()));
      p.other = model.input(static_cast<int64_t>(other.size()));
      a.y = model.output(static_cast<int64_t>(y_bytes));
      a.weights = model.constant(pack(k.kind, a, weight));
      a.params = model.params(params);
      model.call(Kind::kConv2DAdd, p);
      test::expect_same(test::result_of(model, {x, other}), expected);
    }
}

}  // namespace
}  // namespace deuteron::neutron

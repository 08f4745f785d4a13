// SPDX-License-Identifier: Apache-2.0
// Against the definition, over packed weights; extents are odd and all different.
#include <algorithm>

#include "npu/neutron/kernels/convolution/call.h"
#include "npu/neutron/kernels/convolution/test_convolution.h"
#include "npu/neutron/machine/test_tensors.h"

namespace deuteron::neutron {
namespace {

using namespace test;

void check(const ConvCase& k, uint32_t seed) {
  SCOPED_TRACE(testing::Message() << k.name);
  Random random(seed);
  ConvCall a = call_of(k, random);
  const Bytes weight = random.bytes(k.oc * k.kh * k.kw * k.c),
              x = random.bytes(((k.n * k.h * k.w) - 1) * a.x_pitch + k.c);
  const std::vector<int32_t> params = random_params(random, k.oc);
  Model model;
  a.x = model.input(static_cast<int64_t>(x.size()));
  const int64_t y_bytes = int64_t{k.n * k.out_h * k.out_w - 1} * a.y_pitch + k.oc;
  a.y = model.output(y_bytes);
  a.weights = model.constant(pack(k.kind, a, weight));
  a.params = model.params(params);
  model.call(k.kind, a);
  test::expect_same(
      test::result_of(model, {x}),
      reference(k.kind, a, x, weight, params, Bytes(static_cast<size_t>(y_bytes), test::kCleared)));
}

constexpr Kind kV1 = Kind::kConv2DStandardV1, kV2 = Kind::kConv2DStandardV2,
               kOne = Kind::kConv2DPointwise, kBack = Kind::kConv2DTransposed;

TEST(NeutronConvolution, AgainstTheDefinition) {
  const ConvCase cases[] = {
      {"3x3", kV1, 1, 5, 7, 16, 3, 3, 3, 5, 8},
      {"two images, stride and padding", kV1, 2, 9, 7, 13, 3, 2, 5, 6, 11, 2, 1, 1, 1, 1, 0},
      {"dilated, few channels", kV1, 3, 11, 6, 3, 2, 3, 9, 4, 17, 1, 2, 2, 3, 0, 3},
      {"one row, stride across", kV1, 1, 1, 40, 9, 1, 5, 1, 20, 5, 1, 2, 1, 1, 0, 2},
      {"a large window", kV1, 2, 4, 5, 20, 7, 9, 4, 5, 6, 1, 1, 1, 1, 3, 4},
      {"gaps between pixels", kV1, 1, 6, 5, 8, 3, 3, 4, 3, 8, 1, 1, 1, 1, 0, 0, 16, 8},
      {"cropped", kV1, 1, 7, 6, 5, 3, 2, 3, 3, 3, 2, 2, 1, 1, -1, -2},
      {"some windows lie outside", kV1, 1, 3, 3, 2, 3, 3, 9, 8, 4, 1, 1, 1, 1, 5, 4},
      {"by rows: stride 2, padded", kV2, 1, 13, 11, 3, 3, 3, 7, 6, 10, 2, 2, 1, 1, 1, 1},
      {"by rows: one channel, a tall window", kV2, 2, 12, 7, 1, 10, 4, 6, 4, 9, 2, 2, 1, 1, 4, 1},
      {"by rows: stride down", kV2, 3, 7, 9, 4, 5, 3, 4, 8, 16, 2, 1, 1, 1, 2, 1},
      {"by rows: gaps between pixels", kV2, 2, 7, 9, 3, 3, 2, 5, 8, 7, 1, 1, 1, 1, 0, 0, 5, 3},
      {"by rows: dilation down", kV2, 1, 9, 4, 2, 3, 5, 5, 6, 3, 1, 1, 2, 1, 0, 3},
      {"pointwise", kOne, 1, 5, 7, 24, 1, 1, 5, 7, 16},
      {"pointwise: stride 2", kOne, 3, 5, 7, 19, 1, 1, 3, 4, 9, 2, 2},
      {"pointwise: gaps between pixels", kOne, 2, 3, 5, 7, 1, 1, 3, 5, 5, 1, 1, 1, 1, 0, 0, 4, 6},
      {"pointwise: padded", kOne, 1, 4, 4, 33, 1, 1, 6, 7, 9, 1, 1, 1, 1, 1, 2},
      {"transposed: stride 2", kBack, 1, 3, 5, 6, 3, 3, 7, 11, 9, 2, 2},
      {"transposed: cropped", kBack, 2, 4, 3, 11, 2, 5, 8, 7, 5, 2, 1, 1, 1, 0, 0},
      {"transposed: two strides", kBack, 3, 3, 4, 8, 4, 2, 5, 11, 13, 2, 3, 1, 1, 1, 0},
      {"transposed: dilated", kBack, 1, 5, 3, 5, 3, 4, 17, 9, 3, 3, 1, 2, 2, 1, 1},
      {"transposed: results that no tap reaches", kBack, 1, 2, 2, 3, 1, 1, 5, 6, 2, 3, 4},
  };
  uint32_t seed = 100;
  for (const ConvCase& k : cases) check(k, seed++);
}

TEST(NeutronConvolution, AGroupReadsAndWritesItsChannelsOnly) {
  Random random(7);
  Model model;
  ConvCall a{};
  a.n = 2, a.h = 5, a.w = 4, a.c = 3, a.x_pitch = 6, a.kernel_h = 3, a.kernel_w = 2,
  a.stride_h = a.stride_w = a.dilation_h = a.dilation_w = 1;
  a.out_h = 3, a.out_w = 3, a.out_c = 5, a.y_pitch = 10, a.y_min = -128, a.y_max = 127,
  a.x_zero = -5;
  const Bytes x = random.bytes(2 * 5 * 4 * 6),
              weights[] = {random.bytes(5 * 6 * 3), random.bytes(5 * 6 * 3)};
  const std::vector<int32_t> params = random_params(random, 5);
  const Operand in = model.input(240), out = model.output(2 * 3 * 3 * 10);
  Bytes want(180, test::kCleared);
  for (int g = 0; g < 2; ++g) {
    a.x = in, a.y = out;
    a.x.offset = 3 * g, a.y.offset = 5 * g;
    a.weights = model.constant(pack(kV1, a, weights[g]));
    a.params = model.params(params);
    model.call(kV1, a);
    Bytes part = reference(kV1, a, Bytes(x.begin() + 3 * g, x.end()), weights[g], params,
                           Bytes(want.begin() + 5 * g, want.end()));
    std::copy(part.begin(), part.end(), want.begin() + 5 * g);
  }
  test::expect_same(test::result_of(model, {x}), want);
}

TEST(NeutronConvolution, LargestSumsDoNotWrap) {
  Model model;
  ConvCall a{};
  a.n = a.h = a.w = 1, a.c = a.x_pitch = 65528,
  a.kernel_h = a.kernel_w = a.stride_h = a.stride_w = a.dilation_h = a.dilation_w = 1;
  a.out_h = a.out_w = a.out_c = a.y_pitch = 1, a.x_zero = 127, a.y_min = -128, a.y_max = 127;
  const Bytes x(65528, -128), weight(65528, -128);
  const std::vector<int32_t> params = {0, 1 << 30, -24};
  a.x = model.input(65528), a.y = model.output(1),
  a.weights = model.constant(pack(kOne, a, weight)), a.params = model.params(params);
  model.call(kOne, a);
  EXPECT_EQ(test::result_of(model, {x})[0],
            end_of(int64_t{65528} * 255 * 128, 1 << 30, -24, 0, -128, 127));
  EXPECT_EQ(test::result_of(model, {x})[0], 64);
}

}  // namespace
}  // namespace deuteron::neutron

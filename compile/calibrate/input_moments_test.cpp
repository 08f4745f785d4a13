// SPDX-License-Identifier: Apache-2.0
#include "compile/calibrate/input_moments.h"

#include <gtest/gtest.h>

#include "compile/calibrate/test_graph.h"

#pragma GCC diagnostic ignored \
    "-Wmissing-field-initializers"  // attributes that a case does not name keep their defaults

namespace deuteron {
namespace {

// All windows of a small image are drawn, so that the moments are exact: a grouped, strided,
// dilated convolution with padding.
TEST(InputMoments, AreThoseOfAllWindowsOfAGroupedConvolution) {
  TestGraph t;
  const ValueId x = t.input("x", {1, 7, 6, 4});
  const Conv2d conv{
      .stride = {2, 1}, .pad_before = {1, 2}, .pad_after = {1, 0}, .dilation = {1, 2}, .groups = 2};
  const ValueId y = t.node("y", conv, {x, t.constant("w", {6, 3, 2, 2}, random_floats(72, 1))});
  t.output(y);
  const std::vector<float> image = random_floats(7 * 6 * 4, 2);
  const std::vector<std::vector<float>> inputs[] = {{image}};
  const i32 part[] = {0};
  const InputMoments m = input_moments(t.g, inputs, part, 1, 1)[0][0];
  const Shape& out = t.g.type(y).shape;
  ASSERT_EQ(m.groups, 2);
  ASSERT_EQ(m.terms, 12);
  ASSERT_EQ(m.windows, out[1] * out[2]);
  for (i64 group = 0; group < 2; ++group) {
    std::vector<double> sum(12), products(144);
    for (i64 oh = 0; oh < out[1]; ++oh)
      for (i64 ow = 0; ow < out[2]; ++ow) {
        std::vector<double> window;
        for (i64 kh = 0; kh < 3; ++kh)
          for (i64 kw = 0; kw < 2; ++kw)
            for (i64 c = 0; c < 2; ++c) {
              const i64 h = oh * 2 - 1 + kh, w = ow - 2 + kw * 2;
              window.push_back(
                  h >= 0 && h < 7 && w >= 0 && w < 6 ? image[(h * 6 + w) * 4 + group * 2 + c] : 0);
            }
        for (i64 i = 0; i < 12; ++i) {
          sum[i] += window[i];
          for (i64 j = 0; j < 12; ++j) products[i * 12 + j] += window[i] * window[j];
        }
      }
    for (i64 i = 0; i < 12; ++i) EXPECT_NEAR(m.sum[group * 12 + i], sum[i], 1e-5);
    for (i64 i = 0; i < 144; ++i) EXPECT_NEAR(m.products[group * 144 + i], products[i], 1e-5);
  }
}

TEST(InputMoments, OfALinearLayerAddUpOverPartsAndLeaveOthersOut) {
  TestGraph t;
  const ValueId x = t.input("x", {1, 5});
  const ValueId y = t.node("y", Linear{}, {x, t.constant("w", {3, 5}, random_floats(15, 1))});
  t.output(t.node("z", Softmax{1}, {y}));
  std::vector<std::vector<std::vector<float>>> inputs;
  for (unsigned s = 0; s < 4; ++s) inputs.push_back({random_floats(5, s + 1)});
  const i32 parts[] = {0, 1, 0, 1}, whole[] = {0, 0, 0, 0};
  auto by_part = input_moments(t.g, inputs, parts, 2, 2);
  const InputMoments all = input_moments(t.g, inputs, whole, 1, 1)[0][0];
  EXPECT_TRUE(by_part[0][1].empty());
  EXPECT_EQ(by_part[0][0].windows, 2);
  const i32 first_only[] = {0, -1, 0, -1};
  EXPECT_EQ(input_moments(t.g, inputs, first_only, 1, 1)[0][0].products, by_part[0][0].products);
  InputMoments rest = all, nothing = all;
  rest.take_away(by_part[0][0]), nothing.take_away(all);
  EXPECT_EQ(rest.windows, by_part[1][0].windows);
  for (size_t i = 0; i < 25; ++i) EXPECT_NEAR(rest.products[i], by_part[1][0].products[i], 1e-9);
  EXPECT_EQ(nothing.sum, std::vector<double>(5));
  by_part[0][0].add(by_part[1][0]);
  EXPECT_EQ(by_part[0][0].windows, all.windows);
  for (size_t i = 0; i < 25; ++i) EXPECT_NEAR(by_part[0][0].products[i], all.products[i], 1e-9);
  for (size_t i = 0; i < 5; ++i) EXPECT_NEAR(by_part[0][0].sum[i], all.sum[i], 1e-9);
}

}  // namespace
}  // namespace deuteron

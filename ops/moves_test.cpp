// SPDX-License-Identifier: Apache-2.0
// Float execution of slice, concat and gather against definitions written element by element.
#include "compile/calibrate/test_graph.h"

#include "compile/calibrate/samples.h"

namespace deuteron {
namespace {

TEST(Moves, SliceTakesEveryStepthElement) {
  const Shape shape{2, 5, 3, 4};
  const std::vector<float> x = random_floats(numel(shape), 1);
  const auto at = [&](i64 a, i64 b, i64 c, i64 d) { return x[((a * 5 + b) * 3 + c) * 4 + d]; };
  const std::vector<float> y = run_op(Slice{1, 1, 2, 3}, {{shape, x}});
  ASSERT_EQ(y.size(), 2u * 2 * 3 * 4);
  size_t k = 0;
  for (i64 a = 0; a < 2; ++a)
    for (const i64 b : {1, 4})
      for (i64 c = 0; c < 3; ++c)
        for (i64 d = 0; d < 4; ++d) ASSERT_EQ(y[k++], at(a, b, c, d));
  EXPECT_EQ(run_op(Slice{3, 3, 1, 1}, {{shape, x}})[1], at(0, 0, 1, 3));
}

TEST(Moves, ConcatPutsOperandsOneBehindTheOther) {
  const std::vector<float> a = random_floats(2 * 3 * 5, 2), b = random_floats(2 * 1 * 5, 3),
                           c = random_floats(2 * 2 * 5, 4);
  const std::vector<float> y = run_op(Concat{1}, {{{2, 3, 5}, a}, {{2, 1, 5}, b}, {{2, 2, 5}, c}});
  ASSERT_EQ(y.size(), 2u * 6 * 5);
  for (i64 n = 0; n < 2; ++n)
    for (i64 k = 0; k < 6; ++k)
      for (i64 i = 0; i < 5; ++i) {
        const float expected = k < 3   ? a[(n * 3 + k) * 5 + i]
                               : k < 4 ? b[n * 5 + i]
                                       : c[(n * 2 + k - 4) * 5 + i];
        ASSERT_EQ(y[(n * 6 + k) * 5 + i], expected);
      }
}

TEST(Moves, GatherPicksByPosition) {
  const std::vector<float> x = random_floats(3 * 4 * 2, 5);
  const std::vector<float> y = run_op(Gather{1, {3, 0, 0, 2, 1}}, {{{3, 4, 2}, x}});
  ASSERT_EQ(y.size(), 3u * 5 * 2);
  const i64 index[] = {3, 0, 0, 2, 1};
  for (i64 n = 0; n < 3; ++n)
    for (i64 k = 0; k < 5; ++k)
      for (i64 i = 0; i < 2; ++i) ASSERT_EQ(y[(n * 5 + k) * 2 + i], x[(n * 4 + index[k]) * 2 + i]);
}

TEST(Moves, WhatReachesOutsideIsRefused) {
  const Type x{DType::f32, {2, 5}, {}}, other{DType::f32, {3, 5}, {}},
      integers{DType::s32, {2, 5}, {}};
  const auto rule = [](const Op& op, std::vector<const Type*> in) {
    const auto types = infer(op, TypeView(in));
    return types ? std::string("accepted") : types.why.rule;
  };
  EXPECT_EQ(rule(Slice{1, 0, 5, 1}, {&x}), "accepted");
  EXPECT_EQ(rule(Slice{1, 1, 3, 2}, {&x}), "slice.extent");
  EXPECT_EQ(rule(Slice{1, 5, 1, 1}, {&x}), "slice.extent");
  EXPECT_EQ(rule(Slice{1, -1, 1, 1}, {&x}), "slice.extent");
  EXPECT_EQ(rule(Slice{1, 1, INT64_MAX, INT64_MAX}, {&x}), "slice.extent");
  EXPECT_EQ(rule(Slice{2, 0, 1, 1}, {&x}), "slice.axis");
  EXPECT_EQ(rule(Concat{0}, {&x, &other}), "accepted");
  EXPECT_EQ(rule(Concat{1}, {&x, &other}), "concat.shape");
  EXPECT_EQ(rule(Concat{0}, {&x, &integers}), "concat.shape");
  EXPECT_EQ(rule(Concat{0}, {}), "concat.operands");
  EXPECT_EQ(rule(Gather{1, {4, 0}}, {&x}), "accepted");
  EXPECT_EQ(rule(Gather{1, {5}}, {&x}), "gather.index");
  EXPECT_EQ(rule(Gather{-1, {0}}, {&x}), "gather.axis");
}

}  // namespace
}  // namespace deuteron

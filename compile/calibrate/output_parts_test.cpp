// SPDX-License-Identifier: Apache-2.0
#include "compile/calibrate/output_parts.h"

#include <gtest/gtest.h>

#include "compile/calibrate/test_graph.h"

namespace deuteron {
namespace {

// y of the shape [1, 3], or what `make` makes of it.
TestGraph with_output(const auto& make) {
  TestGraph t;
  t.output(make(t, t.input("x", {1, 3})));
  return t;
}
TestGraph plain_output() {
  return with_output(
      [](TestGraph& t, ValueId x) { return t.node("y", Unary{UnaryFn::gelu}, {x}); });
}

OutputError output_error_of(const std::vector<std::vector<float>>& expected,
                            const std::vector<std::vector<float>>& found) {
  OutputError error({1, 3}, {0, 1});
  for (size_t s = 0; s < expected.size(); ++s) error.see(expected[s], found[s]);
  return error;
}

TEST(OutputParts, AreThoseOfDifferentSize) {
  const TestGraph t = plain_output();
  const OutputError alike = output_error_of({{1, 2, 3}, {-3, 1, -2}}, {{1, 2, 3}, {-3, 1, -2}});
  EXPECT_EQ(alike.parts(t.g, t.g.outputs[0]).axis, -1);
  EXPECT_TRUE(std::isinf(alike.whole().db()));
  const OutputError differ =
      output_error_of({{100, 2, 0.01f}, {-90, 1, -0.02f}}, {{100, 2, 0}, {-90, 1, 0}});
  const OutputError::Parts parts = differ.parts(t.g, t.g.outputs[0]);
  ASSERT_EQ(parts.axis, 1);
  ASSERT_EQ(parts.errors.size(), 3u);
  EXPECT_GT(differ.whole().db(), 70);  // the sum says nothing of the third
  EXPECT_NEAR(parts.errors[2].db(), 0, 1e-9);
  EXPECT_TRUE(parts.errors[2].is_constant());
  EXPECT_FALSE(parts.errors[1].is_constant());
  EXPECT_EQ(parts.of(2), 2u);
}

TEST(OutputParts, AreToldWhereOneIsConstantAmongOthersOfItsSize) {
  const TestGraph t = plain_output();
  const OutputError stuck = output_error_of({{1, 2, 3}, {-3, 1, -2}}, {{1, 0, 3}, {-3, 0, -2}});
  EXPECT_EQ(stuck.parts(t.g, t.g.outputs[0]).axis, 1);
}

TEST(OutputParts, HaveTheSizeOfFixedSteps) {
  const TestGraph t =
      with_output([](TestGraph& g, ValueId x) { return g.node("y", Softmax{1}, {x}); });
  const OutputError rare = output_error_of({{0.9f, 0.1f, 0.001f}, {0.2f, 0.8f, 0.002f}},
                                           {{0.9f, 0.1f, 0}, {0.2f, 0.8f, 0}});
  EXPECT_EQ(rare.parts(t.g, t.g.outputs[0]).axis, -1) << "a class that no sample belongs to";
  const TestGraph joined = with_output([](TestGraph& g, ValueId x) {
    const ValueId scores = g.node("scores", Softmax{1}, {x});
    return g.node("y", Concat{1}, {x, scores});
  });
  OutputError error({1, 6}, {0, 1});
  error.see(std::vector<float>{100, -90, 80, 0.9f, 0.1f, 0.001f},
            std::vector<float>{100, -90, 80, 1, 0, 0});
  const OutputError::Parts parts = error.parts(joined.g, joined.g.outputs[0]);
  ASSERT_EQ(parts.axis, 1);
  EXPECT_EQ(parts.errors[0].size, 0);
  EXPECT_NEAR(parts.errors[5].size, 1, 0.01);
  EXPECT_GT(parts.errors[5].db(), 40) << "of a size of 1, not of 0.001";
}

TEST(OutputParts, LieAlongTheUsersAxes) {
  OutputError image({1, 4, 5, 2},
                    {0, 2, 3, 1});  // channels-last in memory, [1, 2, 4, 5] for the user
  std::vector<float> numbers(40);
  for (size_t k = 0; k < numbers.size(); ++k)
    numbers[k] = (k % 2 ? 0.01f : 10.0f) * (k % 3 ? 1.0f : -1.0f);
  image.see(numbers, numbers);
  TestGraph t;
  t.output(t.node("y", Unary{UnaryFn::gelu}, {t.input("x", {1, 4, 5, 2})}));
  t.g.outputs[0].order = {0, 2, 3, 1};
  const OutputError::Parts parts = image.parts(t.g, t.g.outputs[0]);
  EXPECT_EQ(parts.axis, 1);
  EXPECT_EQ(parts.errors.size(), 2u);
}

}  // namespace
}  // namespace deuteron

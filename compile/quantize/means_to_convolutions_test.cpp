// SPDX-License-Identifier: Apache-2.0
#include "compile/quantize/means_to_convolutions.h"

#include <gtest/gtest.h>

#include "compile/calibrate/float_executor.h"
#include "compile/calibrate/test_graph.h"
#include "ir/verify.h"

#pragma GCC diagnostic ignored \
    "-Wmissing-field-initializers"  // attributes that a case does not name keep their defaults

namespace deuteron {
namespace {

TestGraph pooled(const Shape& x, const AvgPool2d& pool) {
  TestGraph t;
  t.output(t.node("y", pool, {t.input("x", x)}));
  return t;
}
int rewritten(TestGraph& t) {
  return means_to_convolutions(t.g, [](const Graph&, const Node&) { return true; });
}

TEST(MeansToConvolutions, ComputesTheSameMean) {
  for (const auto& [shape, kernel] : {std::pair{Shape{2, 5, 7, 3}, HW{5, 7}},
                                      {Shape{1, 1, 6, 4}, HW{1, 6}},
                                      {Shape{1, 6, 1, 4}, HW{6, 1}}}) {
    TestGraph t = pooled(shape, {.kernel = kernel, .stride = kernel});
    const Graph before = t.g;
    ASSERT_EQ(rewritten(t), 1);
    EXPECT_FALSE(find_fault(t.g));
    const std::vector<std::vector<float>> x{random_floats(numel(shape), 3)};
    const auto expected = FloatExecutor(before).run(x, {})[0],
               got = FloatExecutor(t.g).run(x, {})[0];
    ASSERT_EQ(expected.size(), got.size());
    for (size_t k = 0; k < got.size(); ++k) EXPECT_NEAR(got[k], expected[k], 1e-6);
  }
}

TEST(MeansToConvolutions, LeavesOtherPoolsAlone) {
  TestGraph windows = pooled({1, 6, 6, 4}, {.kernel = {3, 6}, .stride = {3, 6}}),
            point = pooled({1, 1, 1, 4}, {}),
            divided = pooled({1, 3, 3, 4}, {.kernel = {3, 3}, .stride = {3, 3}, .divisor = 5});
  EXPECT_EQ(rewritten(windows), 0);
  EXPECT_EQ(rewritten(point), 0);
  EXPECT_EQ(rewritten(divided), 0);
  TestGraph refused = pooled({1, 3, 3, 4}, {.kernel = {3, 3}, .stride = {3, 3}});
  EXPECT_EQ(means_to_convolutions(refused.g, [](const Graph&, const Node&) { return false; }), 0);
  EXPECT_EQ(refused.g.nodes.size(), 1);
}

}  // namespace
}  // namespace deuteron

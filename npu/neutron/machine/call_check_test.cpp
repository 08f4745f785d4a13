// SPDX-License-Identifier: Apache-2.0
// What the rules of calls are written with: gaps, counts and spans at their bounds.
#include "npu/neutron/machine/call_check.h"

#include <gtest/gtest.h>

namespace deuteron::neutron {
namespace {

TEST(NeutronCallCheck, DenseIsWithoutGapsAndOverlaps) {
  struct Case {
    const char* name;
    int32_t extent[kMaxRank], stride[kMaxRank];
    bool dense;
  };
  const Case cases[] = {
      {"storage order", {2, 3, 4, 5, 6, 7}, {2520, 840, 210, 42, 7, 1}, true},
      {"every row is the first", {1, 1, 1, 1, 6, 7}, {1, 1, 1, 1, 0, 1}, false},
      {"rows overlap", {1, 1, 1, 1, 6, 7}, {1, 1, 1, 1, 1, 1}, false},
      {"a gap between rows", {1, 1, 1, 1, 6, 7}, {48, 48, 48, 48, 8, 1}, false},
      {"a gap between elements", {1, 1, 1, 1, 1, 7}, {14, 14, 14, 14, 14, 2}, false},
      {"another order", {1, 1, 1, 1, 6, 7}, {42, 42, 42, 42, 1, 6}, false},
      {"strides of single elements are nothing", {1, 1, 1, 6, 1, 7}, {9, 8, 5, 7, 4, 1}, true},
      {"the outermost axis counts", {2, 1, 1, 1, 1, 7}, {8, 7, 7, 7, 7, 1}, false},
  };
  for (const Case& c : cases) EXPECT_EQ(is_dense(c.extent, c.stride), c.dense) << c.name;
}

TEST(NeutronCallCheck, CountsAndSpansEndAtTheirBounds) {
  const Layout layout{};
  const auto product = [&](std::initializer_list<int32_t> extents) {
    return CallCheck(layout).product(extents);
  };
  EXPECT_EQ(product({2, 3, 7}), 42);
  EXPECT_EQ(product({INT32_MAX}), INT32_MAX);
  EXPECT_EQ(product({1 << 16, 1 << 15}), -1);  // one byte too many
  EXPECT_EQ(product({3, 0}), -1);
  EXPECT_EQ(product({3, -1}), -1);
  const auto span = [&](std::initializer_list<int32_t> extent,
                        std::initializer_list<int32_t> stride) {
    return CallCheck(layout).span(extent.begin(), stride.begin(), static_cast<int>(extent.size()));
  };
  EXPECT_EQ(span({3, 5}, {10, 2}), 29);
  EXPECT_EQ(span({3, 5}, {0, 1}), 5);
  EXPECT_EQ(span({INT32_MAX}, {1}), INT32_MAX);
  EXPECT_EQ(span({2, 2}, {INT32_MAX - 1, 1}), -1);
  EXPECT_EQ(span({0, 5}, {10, 2}), -1);
  EXPECT_EQ(span({3, 5}, {10, -1}), -1);
  EXPECT_EQ(CallCheck(layout).pixels_span(2, 3, 4, 5, 8), 23 * 8 + 5);
  EXPECT_EQ(CallCheck(layout).pixels_span(2, 3, 4, 8, 8), 24 * 8);
  EXPECT_EQ(CallCheck(layout).pixels_span(2, 3, 4, 9, 8), -1);
}

}  // namespace
}  // namespace deuteron::neutron

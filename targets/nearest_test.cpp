// SPDX-License-Identifier: Apache-2.0
#include "targets/nearest.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace deuteron {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(EditDistance, CountsInsertionsDeletionsReplacementsAndSwaps) {
  EXPECT_EQ(edit_distance("", ""), 0u);
  EXPECT_EQ(edit_distance("abc", ""), 3u);
  EXPECT_EQ(edit_distance("", "abcd"), 4u);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3u);
  EXPECT_EQ(edit_distance("cortex-m55", "cortxe-m55"), 1u);
  EXPECT_EQ(edit_distance("Cortex-M55", "cortex-m55"), 0u);
  EXPECT_EQ(edit_distance("cortex-m4", "cortex-m55"), 2u);
}

TEST(Nearest, ComesNearestFirstAndKeepsTheOrderOfEquals) {
  const std::vector<std::string> known = {"cortex-m4", "cortex-m7", "cortex-m55", "imxrt700"};
  EXPECT_THAT(nearest("cortex-m5", known), ElementsAre("cortex-m55", "cortex-m4", "cortex-m7"));
  EXPECT_THAT(nearest("imxrt70", known), ElementsAre("imxrt700"));
  EXPECT_TRUE(nearest("stm32", known).empty());
  EXPECT_TRUE(nearest(std::string(100000, 'c'), known).empty());
}

TEST(Suggestion, OffersWhatIsNearOrAllThatIsKnown) {
  const std::vector<std::string> known = {"name", "bytes"};
  EXPECT_EQ(suggestion("nmae", known), "did you mean `name`?");
  EXPECT_EQ(suggestion("something", known), "known: name, bytes");
  EXPECT_EQ(target_suggestion("nmae", known),
            "did you mean `name`? A file of your own ends in `.toml`.");
  EXPECT_EQ(target_suggestion("something", known),
            "known: name, bytes. A file of your own ends in `.toml`.");
}

}  // namespace
}  // namespace deuteron

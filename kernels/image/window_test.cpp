// SPDX-License-Identifier: Apache-2.0
// Which windows and steps kernels take, at their limits.
#include "kernels/image/window.h"

#include <gtest/gtest.h>

namespace deuteron {
namespace {

struct Steps {
  int32_t in_w, out_h, out_w, stride_h, stride_w, kernel_h = 3, kernel_w = 3, dilation_h = 1,
                                                  dilation_w = 1;
};

TEST(Window, StepsOfRealModelsAreTakenAsTheyAre) {
  Steps a{224, 112, 112, 2, 2};
  EXPECT_EQ(why_not_steps(a, 3, 7), nullptr);
  a = {4095, 2, 2, 63, 63};
  EXPECT_EQ(why_not_steps(a, 4095, 4095), nullptr);
  EXPECT_TRUE(a.stride_h == 63 && a.stride_w == 63);
}

TEST(Window, AStepThatLeavesInt32IsRefused) {
  constexpr int32_t kLargest = static_cast<int32_t>(
      (kMaxStep - 1) / 4 / 16);  // columns of 4 * 16 elements, at most one more
  Steps a{7, 1, 2, 1, kLargest / 2};
  EXPECT_EQ(why_not_steps(a, 16, 4), nullptr);
  a.stride_w = kLargest + 1;
  EXPECT_NE(why_not_steps(a, 16, 4), nullptr);
  a.stride_w = (1 << 28) + 1;  // times 16 it is 16 once more in 32 bits
  EXPECT_NE(why_not_steps(a, 16, 1), nullptr);
  a = {1 << 20, 2, 1, 1 << 7, 1};  // from row to row
  EXPECT_NE(why_not_steps(a, 16, 1), nullptr);
  a.stride_h = 1 << 6;
  EXPECT_EQ(why_not_steps(a, 16, 1), nullptr);
}

TEST(Window, WhereNoSecondWindowFollowsTheStrideHasNoMeaning) {
  Steps a{7, 1, 1, kMaxReach, kMaxReach};
  EXPECT_EQ(why_not_steps(a, 16, 4), nullptr);
  EXPECT_TRUE(a.stride_h == 1 && a.stride_w == 1);
}

TEST(Window, FromTapToTapItIsTheSame) {
  Steps a{7, 2, 2, 1, 1};
  a.dilation_w = 1 << 28;
  EXPECT_NE(why_not_steps(a, 16, 1), nullptr);
  a.kernel_w = 1;
  EXPECT_EQ(why_not_steps(a, 16, 1), nullptr);
  EXPECT_EQ(a.dilation_w, 1);
  a.dilation_h = 1 << 25;  // from row to row
  EXPECT_NE(why_not_steps(a, 16, 1), nullptr);
}

TEST(Window, EachBeginsWhereAnImagePaddedAlikeHasPlaces) {
  EXPECT_EQ(why_not_window(7, 7, 3, 1, 1, 1), nullptr);
  EXPECT_EQ(why_not_window(7, 8, 3, 1, 1, 1), nullptr);  // the last begins inside
  EXPECT_NE(why_not_window(7, 9, 3, 1, 1, 1), nullptr);
  EXPECT_EQ(why_not_window(7, 2, 3, (1 << 28) + 1, 1 << 28, 1), nullptr);
  EXPECT_NE(why_not_window(kMaxReach, 1, kMaxReach, 1, 0, 2), nullptr);
}

}  // namespace
}  // namespace deuteron

// SPDX-License-Identifier: Apache-2.0
// An addition in one step gives the bits of the one that rounds three times, or it is refused.
#include "ops/linear/packed_form.h"

#include <gtest/gtest.h>

#include <random>

#include "kernels/add/kernel.h"
#include "kernels/linear/packed_add/kernel.h"

namespace deuteron {
namespace {

Result<Lowered> linear_of(const AddArgs& a) {
  LinearForms forms;
  return linearize_add({{1}, {256}, {256}, a}, forms);
}

void expect_same_bits(const AddArgs& plain, const Lowered& linear_call) {
  const LinearForm& form = *numbers_of<LinearForm>(&linear_call.call);
  LinearAddArgs linear = form.args;
  linear.count = linear.period = 256;
  AddArgs a = plain;
  a.count = a.period = 256;
  for (int v = -128; v < 128; ++v) {
    std::vector<int8_t> x(256, static_cast<int8_t>(v)), other(256), expected(256), found(256);
    for (int i = 0; i < 256; ++i) other[static_cast<size_t>(i)] = static_cast<int8_t>(i - 128);
    add_s8(a, x.data(), other.data(), expected.data());
    const auto add = form.right == kLinearAddQ21Right ? linear_add_q21_s8 : linear_add_s8;
    add(linear, x.data(), other.data(), found.data());
    ASSERT_EQ(found, expected) << v;
  }
}

TEST(LinearForm, KeepsEveryBit) {
  std::mt19937 bits(20263);
  const auto in = [&](i64 low, i64 high) {
    return static_cast<i32>(low + static_cast<i64>(bits() % static_cast<uint32_t>(high - low + 1)));
  };
  int found = 0;
  for (int k = 0; k < 60; ++k) {
    // As lowering has them: the larger scale is one half, the sum is scaled down from 2^20 steps.
    const AddArgs a{0,
                    0,
                    {in(-128, 127), in(1 << 30, INT32_MAX), -in(1, 3)},
                    {in(-128, 127), 1 << 30, 0},
                    {in(-128, 127), in(1 << 30, INT32_MAX), -in(k % 10 == 0 ? 17 : 18, 19)},
                    -128,
                    127};
    const Result<Lowered> linear = linear_of(a);
    if (!linear) continue;
    ++found;
    EXPECT_EQ(linear->call.in_place, (std::vector<std::pair<i64, i64>>{{0, 1}}));
    expect_same_bits(a, *linear);
  }
  EXPECT_GE(found, 58);  // of 60; 15 of 15 additions of the fixture models
}

TEST(LinearForm, SaysWhyACallStaysAsItIs) {
  AddArgs a{0, 0, {-128, 1419009300, -2}, {-11, 1 << 30, 0}, {-128, 1980954821, -18}, -100, 127};
  EXPECT_EQ(linear_of(a).why.what, "the result has bounds of its own");
  a.y_min = -128, a.y.shift = -10;  // a step of an operand is hundreds of the result
  EXPECT_EQ(linear_of(a).why.what, "no factors give the same bits for all pairs of values");
}

}  // namespace
}  // namespace deuteron

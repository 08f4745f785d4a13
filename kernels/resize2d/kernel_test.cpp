// SPDX-License-Identifier: Apache-2.0
// resize2d_s8 and its binding against the reference, bit for bit: every number of channels around a
// vector, tables of any order, and refusals; and the tables of the compiler against the float
// operator.
#include "kernels/resize2d/kernel.h"

#include "kernels/common/kernel_test.h"
#include "kernels/common/kernels.h"
#include "kernels/common/test_spoiled_calls.h"
#include "kernels/resize2d/reference.h"
#include "kernels/resize2d/test_positions.h"

namespace deuteron {
namespace resize2d_test {

constexpr int32_t kOne = 1 << kResizeBits;

TestCall call_of(const Resize2dArgs& a, Random& random) {
  TestCall call(kResize2d);
  random.fill(call.image(a.n, a.in_h, a.in_w, a.channels));
  add_positions(call, a, random);
  call.image(a.n, a.out_h, a.out_w, a.channels);
  return call;
}

const Resize2dArgs kCases[] = {
    {1, 5, 3, 7, 10, 6}, {2, 3, 4, 1, 7, 9},     {1, 1, 1, 5, 4, 3}, {1, 4, 6, 16, 2, 3},
    {3, 2, 5, 3, 3, 11}, {1, 7, 1, 4, 5, 2},     {1, 2, 9, 8, 1, 1}, {1, 3, 3, 17, 8, 5},
    {2, 6, 2, 2, 6, 2},  {1, 11, 13, 33, 9, 12},
};

TEST(Resize2dKernel, EqualsTheReference) {
  KernelCases cases;
  uint32_t seed = 1;
  for (const Resize2dArgs& a : kCases) {
    Random random(seed++);
    TestCall call = call_of(a, random);
    std::vector<int8_t> expected(static_cast<size_t>(call.tensor_at(3).numel));
    resize2d_reference(a, data_of<int8_t>(call.tensor_at(0)), data_of<int32_t>(call.tensor_at(1)),
                       data_of<int32_t>(call.tensor_at(2)), expected.data());
    cases.run("of " + std::to_string(a.channels) + " channels", call);
    cases.expect(3, expected);
  }
}

// Between two pixels half of the way, and a quarter of it along both axes: halves go away from
// zero.
TEST(Resize2dKernel, RoundsHalvesAwayFromZero) {
  const int8_t x[] = {1, 2, -1, -2, 127, 127, -128, -128, 0, 2};
  const int32_t rows[] = {0, 0},
                columns[] = {0, kOne / 2, 2, kOne / 2, 4, kOne / 2, 6, kOne / 2, 8, kOne / 4};
  int8_t y[5];
  resize2d_s8({1, 1, 10, 1, 1, 5}, x, rows, columns, y);
  EXPECT_EQ(std::vector<int8_t>(y, y + 5), (std::vector<int8_t>{2, -2, 127, -128, 1}));
}

TEST(Resize2dKernel, Refuses) {
  const auto make = [] {
    Random random(4);
    return call_of({1, 5, 3, 7, 4, 6}, random);
  };
  const auto entry = [](int argument, size_t at, int32_t value) {
    return
        [=](TestCall& call) { static_cast<int32_t*>(call.tensor_at(argument).data)[at] = value; };
  };
  expect_refusals(
      make,
      {
          {0, "must be int8", type(0, ScalarType::u8)},
          {0, "must be stored channels-last", order(0, {0, 1, 2, 3})},
          {3, "must be int8", type(3, ScalarType::f32)},
          {3, "must have the batch and the channels of the input", size(3, 1, 6)},
          {1, "has the wrong dtype", type(1, ScalarType::f32)},
          {1, "must have a position and a weight for each element along the axis", size(1, 0, 3)},
          {2, "must have a position and a weight for each element along the axis", size(2, 0, 5)},
          {1, "must be a constant", [](TestCall& call) { call.tensor_at(1).constant = false; }},
          {1, "has a position outside the axis", entry(1, 2, -1)},
          {2, "has a position outside the axis", entry(2, 2, 3)},
          {1, "has a weight out of range", entry(1, 1, 1)},  // the first one is the last row
          {2, "has a weight out of range", entry(2, 3, kOne + 1)},
          {2, "has a weight out of range", entry(2, 3, -1)},
      });
}

TEST(Resize2dKernel, StaysInsideItsTensorsWhateverTheArguments) {
  expect_inside(kResize2d, "x8:1,2,40,40:0231 x32pc:6,2 x32pc:5,2 x8:1,2,6,5:0231");
}

}  // namespace resize2d_test
}  // namespace deuteron

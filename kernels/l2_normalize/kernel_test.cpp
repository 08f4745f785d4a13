// SPDX-License-Identifier: Apache-2.0
// l2_normalize_s8 and its binding: against the real numbers, within what rounding twice leaves;
// both ways of TFLite, which differ; in place; and refusals. tests/stock/tflite_import.py compares
// the bits with TFLite's.
#include "kernels/l2_normalize/kernel.h"

#include <cmath>

#include "kernels/common/kernel_test.h"
#include "kernels/common/kernels.h"
#include "kernels/common/test_spoiled_calls.h"

namespace deuteron {
namespace l2_normalize_test {

TestCall call_of(const std::vector<int32_t>& sizes, int32_t x_zero, bool of_bytes, Random& random) {
  TestCall call(kL2Normalize);
  random.fill(call.tensor(ScalarType::s8, sizes));
  call.integer(x_zero);
  call.boolean(of_bytes);
  call.tensor(ScalarType::s8, sizes);
  return call;
}

TEST(L2NormalizeKernel, HasTheLengthOne) {
  uint32_t seed = 1;
  for (const std::vector<int32_t>& sizes :
       std::vector<std::vector<int32_t>>{{7}, {3, 40}, {2, 3, 4, 5}, {2, 9000}, {5, 1}})
    for (const int32_t x_zero : {-128, -3, 0, 127})
      for (const bool of_bytes : {false, true}) {
        Random random(seed++);
        KernelCases cases;
        TestCall call = call_of(sizes, x_zero, of_bytes, random);
        cases.run("case " + std::to_string(seed), call);
        const auto *x = data_of<int8_t>(call.tensor_at(0)), *y = data_of<int8_t>(call.tensor_at(3));
        const int32_t depth = sizes.back(), total = call.tensor_at(0).numel;
        for (int32_t first = 0; first < total; first += depth) {
          double squares = 0;
          for (int32_t i = first; i < first + depth; ++i)
            squares += (x[i] - x_zero) * (x[i] - x_zero);
          if (squares == 0) squares = 1;
          for (int32_t i = first; i < first + depth; ++i)
            ASSERT_NEAR(y[i], std::clamp(128 * (x[i] - x_zero) / std::sqrt(squares), -128.0, 127.0),
                        0.76)
                << seed << " " << i;
        }
      }
}

// int8 multiplies before it shifts, bytes are shifted first; the multiplier of 1 falls short by a
// bit.
TEST(L2NormalizeKernel, RoundsAsTfliteDoes) {
  const auto run = [](std::vector<int8_t> x, bool of_bytes) {
    std::vector<int8_t> y(x.size());
    l2_normalize_s8({1, static_cast<int32_t>(x.size()), 0, of_bytes}, x.data(), y.data());
    return y;
  };
  EXPECT_EQ(run({1, 0, 0}, false), (std::vector<int8_t>{127, 0, 0}));
  EXPECT_EQ(run({-1, 0, 0}, true), (std::vector<int8_t>{-128, 0, 0}));
  EXPECT_EQ(run({0, 0}, false), (std::vector<int8_t>{0, 0}));
  Random random(1);
  int differ = 0;
  for (int i = 0; i < 2000; ++i) {
    std::vector<int8_t> x(static_cast<size_t>(random.in(1, 40)));
    for (int8_t& v : x) v = random.s8();
    differ += run(x, false) != run(x, true);
  }
  EXPECT_GT(differ, 10);
}

TEST(L2NormalizeKernel, Refuses) {
  const auto make = [] {
    Random random(7);
    return call_of({2, 6}, 3, false, random);
  };
  expect_refusals(make, {
                            {0, "must be int8", type(0, ScalarType::s16)},
                            {3, "must be int8", type(3, ScalarType::s16)},
                            {0, "must have a dimension", rank(0, 0)},
                            {3, "must have the sizes and the order of the input", rank(3, 1)},
                            {3, "must have the sizes and the order of the input", size(3, 1, 5)},
                            {1, "must be -128..127", number(1, 128)},
                        });
}

TEST(L2NormalizeKernel, StaysInsideItsTensors) {
  expect_inside(kL2Normalize, "x8:2,3,5 i:-7 b:1 x8:2,3,5");
}

}  // namespace l2_normalize_test
}  // namespace deuteron

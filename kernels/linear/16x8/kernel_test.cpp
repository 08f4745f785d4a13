// SPDX-License-Identifier: Apache-2.0
// linear_16x8, wide and narrow, and their binding against the reference, bit for bit; ties; and
// refusals.
#include "kernels/linear/16x8/kernel.h"

#include <random>

#include "kernels/common/kernel_test.h"
#include "kernels/common/kernels.h"
#include "kernels/common/test_spoiled_calls.h"
#include "kernels/common/test_steps.h"
#include "kernels/integer/requantize_reference.h"
#include "kernels/linear/16x8/reference.h"
#include "kernels/linear/16x8/steps.h"

namespace deuteron {
namespace linear_16x8_test {

enum class Bias { none, wide, narrow };

int64_t bits_of(double v) {
  int64_t bits;
  std::memcpy(&bits, &v, sizeof bits);
  return bits;
}

TestCall call_of(const Linear16x8Args& a, Bias bias, Random& random) {
  TestCall call(kLinear16x8);
  add_int16(call, random, {a.rows, a.inputs});
  add_constant(call, ScalarType::s8, any_int8(random, int64_t{a.outputs} * a.inputs),
               {a.outputs, a.inputs});
  if (bias == Bias::narrow)
    add_constant(call, ScalarType::s32, random.list(a.outputs, INT32_MIN, INT32_MAX));
  else if (bias == Bias::wide)
    add_constant(call, ScalarType::s64, any_int64(random, a.outputs, int64_t{1} << 40));
  else call.none();
  std::vector<int64_t> scale;
  for (int32_t o = 0; o < a.outputs; ++o)
    scale.push_back(bits_of(std::ldexp(random.in(1 << 20, 1 << 30), -random.in(40, 60))));
  add_constant(call, ScalarType::s64, scale);
  call.integer(a.y_min);
  call.integer(a.y_max);
  call.tensor(ScalarType::s16, {a.rows, a.outputs});
  return call;
}

TEST(Linear16x8Kernel, EqualsTheReference) {
  KernelCases cases;
  const Linear16x8Args table[] = {{1, 16, 5, -32768, 32767},
                                  {3, 7, 9, -32768, 32767},
                                  {2, 1300, 3, 0, 20000},
                                  {5, 1, 1, -32768, 32767},
                                  {4, 9, 2, -7, 9}};
  uint32_t seed = 1;
  for (const Linear16x8Args& a : table)
    for (const Bias bias : {Bias::none, Bias::wide, Bias::narrow}) {
      Random random(seed++);
      TestCall call = call_of(a, bias, random);
      cases.run(
          std::to_string(a.inputs) + " inputs, bias " + std::to_string(static_cast<int>(bias)),
          call);
      const auto* x = data_of<int16_t>(call.tensor_at(0));
      const auto* weight = data_of<int8_t>(call.tensor_at(1));
      std::vector<int16_t> expected;
      for (int32_t r = 0; r < a.rows; ++r)
        for (int32_t o = 0; o < a.outputs; ++o) {
          int64_t sum = bias == Bias::wide     ? data_of<int64_t>(call.tensor_at(2))[o]
                        : bias == Bias::narrow ? data_of<int32_t>(call.tensor_at(2))[o]
                                               : 0;
          for (int32_t i = 0; i < a.inputs; ++i)
            sum += int64_t{x[r * a.inputs + i]} * weight[o * a.inputs + i];
          if (bias == Bias::narrow) sum = wrap32_reference(sum);
          expected.push_back(static_cast<int16_t>(
              linear_16x8_steps(sum, data_of<int64_t>(call.tensor_at(3))[o], a.y_min, a.y_max)));
        }
      cases.expect(6, expected);
    }
}

TEST(Linear16x8Kernel, RoundsTiesAwayFromZeroAndHoldsWhatIsTooLarge) {
  struct Sum {
    int64_t sum;
    double scale;
    int16_t y;
  };
  for (const Sum& s : {Sum{1, 0.5, 1},
                       {-1, 0.5, -1},
                       {3, 0.5, 2},
                       {-3, 0.5, -2},
                       {1, 0.499999999999999944, 0},
                       {-5, 0.25, -1},
                       {65535, 0.5, 32767},
                       {-65537, 0.5, -32768},
                       {int64_t{1} << 60, 1e300, 32767},
                       {-(int64_t{1} << 60), 1e300, -32768},
                       {1, 1e-300, 0}}) {
    const Linear16x8Args a{1, 1, 1, -32768, 32767};
    const int16_t x = 0;
    const int8_t weight = 0;
    const int64_t scale = bits_of(s.scale);
    int16_t y = 77;
    linear_16x8(a, &x, &weight, &s.sum, &scale, &y);
    EXPECT_EQ(y, s.y) << s.sum << " * " << s.scale;
  }
}

// Sums and scales whose product lies at a half, next to it, or anywhere.
TEST(Linear16x8Kernel, RoundsAsDoublesDo) {
  std::mt19937_64 random(5);
  const auto below = [&](uint64_t n) { return static_cast<int64_t>(random() % n); };
  for (int i = 0; i < 200000; ++i) {
    auto sum = static_cast<int64_t>(random()) >> below(64);
    double scale = std::ldexp(1 + static_cast<double>(below(int64_t{1} << 52)) / 4503599627370496.0,
                              -static_cast<int>(below(70)));
    const double half = static_cast<double>(below(i % 2 ? 32769 : 3)) + 0.5;
    if (i % 4 == 1 && sum != 0) scale = std::abs(half / static_cast<double>(sum));
    if (i % 4 == 2) {
      scale = std::ldexp(static_cast<double>(1 + below(1000)), -static_cast<int>(below(60)));
      sum = std::llround(half / scale) + below(3) - 1;
    }
    if (i % 4 == 3) {
      const int64_t bits =
          1 + below(uint64_t{0x7FF} << 52) %
                  ((int64_t{0x7FF} << 52) - 1);  // any: also those that are next to 0
      std::memcpy(&scale, &bits, sizeof scale);
    }
    for (int64_t k = below(5); k > 0; --k) scale = std::nextafter(scale, i % 8 < 4 ? 0.0 : 1e300);
    if (!(scale > 0)) continue;
    ASSERT_EQ(steps_of_16x8(sum, bits_of(scale)),
              linear_16x8_steps(sum, bits_of(scale), -32768, 32767))
        << sum << " * " << scale;
  }
}

TEST(Linear16x8Kernel, Refuses) {
  const auto make = [] {
    Random random(7);
    return call_of({2, 6, 3, -32768, 32767}, Bias::wide, random);
  };
  const auto scale = [](double v) {
    return [v](TestCall& c) { data_of<int64_t>(c.tensor_at(3))[1] = bits_of(v); };
  };
  expect_refusals(make, {
                            {0, "must be int16", type(0, ScalarType::s8)},
                            {6, "must be int16", type(6, ScalarType::s8)},
                            {1, "must have a column for each input", size(1, 1, 5)},
                            {1, "must have a row for each output", size(1, 0, 2)},
                            {2, "must be int64", type(2, ScalarType::f32)},
                            {2, "must be 8-aligned", misaligned(2, 4)},
                            {3, "must be a constant", not_constant(3)},
                            {3, "has a value that is not positive and finite", scale(0)},
                            {3, "has a value that is not positive and finite", scale(-1)},
                            {3, "has a value that is not positive and finite", scale(HUGE_VAL)},
                            {3, "has a value that is not positive and finite", scale(std::nan(""))},
                            {4, "must be -32768..32767", number(4, -32769)},
                            {6, "must have the rows of the input", size(6, 0, 3)},
                        });
}

TEST(Linear16x8Kernel, StaysInsideItsTensors) {
  expect_inside(kLinear16x8, "x16:3,7 x8c:2,7 x64c:2 x64pc:2 i:-32768 i:32767 x16:3,2");
}

}  // namespace linear_16x8_test
}  // namespace deuteron

// SPDX-License-Identifier: Apache-2.0
// softmax_s16 and its binding against its formula, bit for bit, and against the real softmax within
// a derived bound; and refusals.
#include "kernels/softmax/s16/kernel.h"

#include "kernels/common/kernel_test.h"
#include "kernels/common/kernels.h"
#include "kernels/common/test_spoiled_calls.h"
#include "kernels/softmax/s16/reference.h"

namespace deuteron {
namespace softmax_s16_test {

// As a compiler writes them: the scale in Q5.26, and the difference below which exp() is nothing.
SoftmaxArgs args_of(int32_t rows, int32_t columns, double scale) {
  int exponent = 0;
  const double mantissa = std::frexp(std::min(scale * (1 << 26), 1073741823.0), &exponent);
  int64_t m = std::llround(mantissa * 2147483648.0);
  if (m == int64_t{1} << 31) m /= 2, ++exponent;
  return {rows, columns, static_cast<int32_t>(m), exponent,
          -static_cast<int32_t>(std::floor(31.0 * (1 << 26) / std::ldexp(1.0, exponent)))};
}

TestCall call_of(const SoftmaxArgs& a, Random& random, int32_t spread) {
  TestCall call(kSoftmaxS16);
  Tensor& x = call.tensor(ScalarType::s16, {a.rows, a.columns});
  auto* to = static_cast<int16_t*>(x.data);
  for (const int32_t v : random.list(x.numel, -spread, spread - 1)) *to++ = static_cast<int16_t>(v);
  for (const int32_t v : {a.multiplier, a.shift, a.diff_min}) call.integer(v);
  call.tensor(ScalarType::s16, {a.rows, a.columns});
  return call;
}

TEST(SoftmaxS16Kernel, EqualsTheReference) {
  KernelCases cases;
  uint32_t seed = 1;
  for (const double scale : {0x1p-17, 0.0003, 0.002, 0.011, 0.3, 5.0})
    for (const int32_t columns : {1, 2, 10, 131, 1000}) {
      const SoftmaxArgs a = args_of(3, columns, scale);
      Random random(seed++);
      TestCall call = call_of(a, random, seed % 2 == 0 ? 32768 : 300);
      cases.run("scale " + std::to_string(scale) + ", " + std::to_string(columns), call);
      std::vector<int16_t> expected(static_cast<size_t>(a.rows * a.columns));
      softmax_s16_reference(a, data_of<int16_t>(call.tensor_at(0)), expected.data());
      cases.expect(4, expected);
    }
}

// e is within 2^-22 of exp(d * scale) in parts of it: d in Q5.26 is rounded by 2^-27 and by the
// multiplier's 2^-31 of at most 32, each of the eight factors by 2^-31 of a result of 2^-15 or more
// that still counts, and the series ends behind x^4 / 4!: (1/8)^5 / 5! = 2^-21.9 of it. Twice that
// is e / S; of it 32768 steps are made, rounded once, and 1 is 32767.
TEST(SoftmaxS16Kernel, IsWithinAStepOfTheRealOne) {
  constexpr double kBound = 0.5 + 32768 * 2 * 0x1p-21;
  for (const double scale : {0x1p-14, 0.0003, 0.001, 0.004})
    for (uint32_t seed = 0; seed < 50; ++seed) {
      const SoftmaxArgs a = args_of(1, 37, scale);
      Random random(seed);
      TestCall call = call_of(a, random, seed % 2 == 0 ? 32768 : 2000);
      call.run();
      const auto* x = data_of<int16_t>(call.tensor_at(0));
      const std::vector<double> real = softmax_s16_exact({x, x + 37}, scale);
      for (size_t i = 0; i < 37; ++i)
        EXPECT_LE(
            std::abs(data_of<int16_t>(call.tensor_at(4))[i] - std::min(real[i] * 32768, 32767.0)),
            kBound)
            << scale;
    }
}

TEST(SoftmaxS16Kernel, WorksInPlace) {
  EXPECT_TRUE(kSoftmaxS16.in_place);
  const SoftmaxArgs a = args_of(2, 19, 0.001);
  Random random(3);
  TestCall call = call_of(a, random, 9000);
  std::vector<int16_t> expected(38);
  softmax_s16_reference(a, data_of<int16_t>(call.tensor_at(0)), expected.data());
  call.tensor_at(4).data = call.tensor_at(0).data;
  call.run();
  EXPECT_EQ(contents<int16_t>(call.tensor_at(4)), expected);
}

TEST(SoftmaxS16Kernel, Refuses) {
  const auto make = [] {
    Random random(7);
    return call_of(args_of(3, 5, 0.001), random, 32768);
  };
  expect_refusals(make, {
                            {0, "must be int16", type(0, ScalarType::s8)},
                            {4, "must be int16", type(4, ScalarType::s8)},
                            {0, "must be stored in the order of its dimensions", order(0, {1, 0})},
                            {4, "must have the sizes and the order of the input", size(4, 1, 4)},
                            {1, "is out of range", number(1, -1)},
                            {2, "must be 0..31", number(2, 32)},
                            {3, "must not be positive", number(3, 1)},
                            {3, "must keep differences within int32", number(2, 31)},
                        });
}

TEST(SoftmaxS16Kernel, StaysInsideItsTensors) {
  expect_inside(kSoftmaxS16, "x16:3,5 i:1099511628 i:17 i:-15872 x16:3,5");
}

}  // namespace softmax_s16_test
}  // namespace deuteron

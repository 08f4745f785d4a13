// SPDX-License-Identifier: Apache-2.0
// linear_once_s8 and its binding against the reference, bit for bit; every rounding next to a tie;
// and refusals.
#include "kernels/linear/once/kernel.h"

#include "kernels/common/kernel_test.h"
#include "kernels/common/kernels.h"
#include "kernels/common/test_spoiled_calls.h"
#include "kernels/common/test_steps.h"
#include "kernels/integer/requantize.h"
#include "kernels/linear/once/reference.h"

namespace deuteron {
namespace linear_once_test {

TestCall call_of(const LinearOnceArgs& a, int32_t least_shift, int32_t most_shift, Random& random) {
  TestCall call(kLinearOnce);
  random.fill(call.tensor(ScalarType::s8, {a.rows, a.inputs}));
  add_constant(call, ScalarType::s8, any_int8(random, int64_t{a.outputs} * a.inputs),
               {a.outputs, a.inputs});
  add_constant(call, ScalarType::s32, random.list(a.outputs, -100000, 100000));
  add_constant(call, ScalarType::s32, random.list(a.outputs, 1 << 30, INT32_MAX));
  add_constant(call, ScalarType::s32, random.list(a.outputs, least_shift, most_shift));
  for (const int32_t v : {a.y_zero, a.y_min, a.y_max}) call.integer(v);
  call.tensor(ScalarType::s8, {a.rows, a.outputs});
  return call;
}

TEST(LinearOnceKernel, EqualsTheReference) {
  KernelCases cases;
  const LinearOnceArgs table[] = {{1, 16, 5, 0, -128, 127},     {3, 7, 9, 3, -128, 127},
                                  {2, 1300, 4, -128, -100, 90}, {5, 1, 1, 127, 0, 127},
                                  {1, 640, 128, -5, -128, 127}, {4, 33, 3, 0, 5, 5}};
  uint32_t seed = 1;
  for (const LinearOnceArgs& a : table)
    for (const int32_t least : {-12, -31, 0}) {
      Random random(seed++);
      TestCall call = call_of(a, least, least == 0 ? 30 : -1, random);
      cases.run(line("rows, inputs, outputs, shift", {a.rows, a.inputs, a.outputs, least}, seed),
                call);
      const auto numbers = [&](int i) { return data_of<int32_t>(call.tensor_at(i)); };
      std::vector<int8_t> expected(static_cast<size_t>(a.rows * a.outputs));
      linear_once_reference(a, data_of<int8_t>(call.tensor_at(0)),
                            data_of<int8_t>(call.tensor_at(1)), numbers(2), numbers(3), numbers(4),
                            expected.data());
      cases.expect(8, expected);
    }
}

// Sums on both sides of every tie that a shift has, and at the ends of int32.
TEST(LinearOnceKernel, RoundsOnce) {
  Random random(3);
  int32_t twice = 0;
  for (int32_t i = 0; i < 100000; ++i) {
    const int32_t shift = random.in(-31, -1), multiplier = random.in(1 << 30, INT32_MAX);
    const int32_t step = random.in(-130, 130);
    const double tie = (step + 0.5) * static_cast<double>(int64_t{1} << (31 - shift)) / multiplier;
    int32_t v =
        static_cast<int32_t>(std::clamp(tie + random.in(-1, 1), -2147483648.0, 2147483647.0));
    if (i % 10 == 0) v = random.in(0, 1) ? INT32_MAX : INT32_MIN;
    ASSERT_EQ(requantize_once(v, multiplier, shift), once_reference(v, multiplier, shift))
        << v << " * " << multiplier << " >> " << shift;
    twice += requantize_once(v, multiplier, shift) != requantize(v, multiplier, shift);
  }
  EXPECT_GT(twice, 100);  // ties at which the other rounding gives another step
}

TEST(LinearOnceKernel, Refuses) {
  const auto make = [] {
    Random random(7);
    return call_of({2, 6, 3, 0, -128, 127}, -9, -1, random);
  };
  expect_refusals(make, {
                            {0, "must be int8", type(0, ScalarType::s16)},
                            {1, "must be int8", type(1, ScalarType::u8)},
                            {8, "must be int8", type(8, ScalarType::s16)},
                            {0, "has the wrong rank", rank(0, 1)},
                            {1, "must have a column for each input", size(1, 1, 5)},
                            {1, "must have a row for each output", size(1, 0, 2)},
                            {8, "must have the rows of the input", size(8, 0, 3)},
                            {2, "must be int32", type(2, ScalarType::f32)},
                            {2, "must be 4-aligned", misaligned(2, 2)},
                            {2, "must have one entry for each output channel", elements(2, 2)},
                            {3, "must be a constant", not_constant(3)},
                            {3, "has a value out of range",
                             [](TestCall& c) { data_of<int32_t>(c.tensor_at(3))[1] = INT32_MIN; }},
                            {4, "must be a constant", not_constant(4)},
                            {4, "has a value out of range",
                             [](TestCall& c) { data_of<int32_t>(c.tensor_at(4))[2] = -32; }},
                            {5, "must be -128..127", number(5, 128)},
                            {6, "must be -128..127", number(6, -129)},
                            {7, "must be activation_min..127", number(7, 128)},
                        });
}

TEST(LinearOnceKernel, StaysInsideItsTensors) {
  expect_inside(kLinearOnce, "x8:3,7 x8c:2,7 x32:2 x32c:2 x32pc:2 i:0 i:-128 i:127 x8:3,2");
}

}  // namespace linear_once_test
}  // namespace deuteron

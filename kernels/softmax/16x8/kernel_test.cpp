// SPDX-License-Identifier: Apache-2.0
// softmax_16x8 and its binding against the reference, bit for bit, with tables as a compiler writes
// them and with others; and refusals.
#include "kernels/softmax/16x8/kernel.h"

#include <cmath>

#include "kernels/common/kernel_test.h"
#include "kernels/common/kernels.h"
#include "kernels/common/test_spoiled_calls.h"
#include "kernels/common/test_steps.h"
#include "kernels/softmax/16x8/reference.h"

namespace deuteron {
namespace softmax_16x8_test {

template <class Function>
std::vector<int16_t> table(Function function) {
  std::vector<int16_t> t;
  for (int32_t i = 0; i < kSoftmax16x8Entries; ++i)
    t.push_back(static_cast<int16_t>(std::lround(32767 * function(i / 512.0))));
  return t;
}

TestCall call_of(const Softmax16x8Args& a, Random& random, bool any_tables = false) {
  TestCall call(kSoftmax16x8);
  add_int16(call, random, {a.rows, a.columns});
  std::vector<int16_t> exponential = table([](double v) { return std::exp(10 * (v - 1)); });
  std::vector<int16_t> reciprocal = table([](double v) { return 1 / (1 + v); });
  for (size_t i = 0; any_tables && i < exponential.size(); ++i)
    exponential[i] = static_cast<int16_t>(random.in(-32768, 32767)),
    reciprocal[i] = static_cast<int16_t>(random.in(-32768, 32767));
  add_constant(call, ScalarType::s16, exponential);
  add_constant(call, ScalarType::s16, reciprocal);
  call.integer(a.multiplier);
  call.integer(a.shift);
  call.tensor(ScalarType::s16, {a.rows, a.columns});
  return call;
}

TEST(Softmax16x8Kernel, EqualsTheReference) {
  KernelCases cases;
  uint32_t seed = 1;
  for (const int32_t shift : {-31, -3, 0, 1, 5, 15})
    for (const int32_t columns : {1, 2, 10, 131, 1000})
      for (const bool any_tables : {false, true}) {
        const Softmax16x8Args a{3, columns, 1342177280, shift};
        Random random(seed++);
        TestCall call = call_of(a, random, any_tables);
        cases.run("shift " + std::to_string(shift) + ", " + std::to_string(columns), call);
        std::vector<int16_t> expected(static_cast<size_t>(a.rows * a.columns));
        softmax_16x8_reference(a, data_of<int16_t>(call.tensor_at(0)),
                               data_of<int16_t>(call.tensor_at(1)),
                               data_of<int16_t>(call.tensor_at(2)), expected.data());
        cases.expect(5, expected);
      }
}

TEST(Softmax16x8Kernel, WorksInPlace) {
  EXPECT_TRUE(kSoftmax16x8.in_place);
  const Softmax16x8Args a{2, 19, 1342177280, -1};
  Random random(3);
  TestCall call = call_of(a, random);
  std::vector<int16_t> expected(38);
  softmax_16x8_reference(a, data_of<int16_t>(call.tensor_at(0)),
                         data_of<int16_t>(call.tensor_at(1)), data_of<int16_t>(call.tensor_at(2)),
                         expected.data());
  call.tensor_at(5).data = call.tensor_at(0).data;
  call.run();
  EXPECT_EQ(contents<int16_t>(call.tensor_at(5)), expected);
}

TEST(Softmax16x8Kernel, Refuses) {
  const auto make = [] {
    Random random(7);
    return call_of({3, 5, 1342177280, 0}, random);
  };
  expect_refusals(make, {
                            {0, "must be int16", type(0, ScalarType::s8)},
                            {5, "must be int16", type(5, ScalarType::s8)},
                            {0, "must be stored in the order of its dimensions", order(0, {1, 0})},
                            {5, "must have the sizes and the order of the input", size(5, 1, 4)},
                            {1, "must have 513 entries", elements(1, 512)},
                            {2, "must be a constant", not_constant(2)},
                            {3, "is out of range", number(3, -1)},
                            {4, "must be -31..15", number(4, 16)},
                        });
}

TEST(Softmax16x8Kernel, StaysInsideItsTensors) {
  expect_inside(kSoftmax16x8, "x16:3,5 x16c:513 x16c:513 i:1342177280 i:0 x16:3,5");
}

}  // namespace softmax_16x8_test
}  // namespace deuteron

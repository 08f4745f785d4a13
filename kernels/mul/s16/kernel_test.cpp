// SPDX-License-Identifier: Apache-2.0
// mul_s16 and its binding against the reference, bit for bit: shapes that are equal and one value
// for each channel; and refusals.
#include "kernels/mul/s16/kernel.h"

#include "kernels/common/kernel_test.h"
#include "kernels/common/kernels.h"
#include "kernels/common/test_spoiled_calls.h"
#include "kernels/mul/s16/reference.h"

namespace deuteron {
namespace mul_s16_test {

// One operand has `period` elements: one for each channel of an image.
TestCall call_of(const MulS16Args& a, bool swapped, Random& random) {
  TestCall call(kMulS16);
  const bool channels = a.period != a.count;
  const std::vector<int32_t> whole = channels
                                         ? std::vector<int32_t>{1, a.period, 1, a.count / a.period}
                                         : std::vector<int32_t>{a.count};
  const std::vector<uint8_t> order =
      channels ? std::vector<uint8_t>{0, 2, 3, 1} : std::vector<uint8_t>{};
  for (const bool shorter : {swapped, !swapped}) {
    const std::vector<int32_t> sizes =
        channels && shorter ? std::vector<int32_t>{1, a.period, 1, 1} : whole;
    Tensor& t = call.tensor(ScalarType::s16, sizes, order);
    auto* to = static_cast<int16_t*>(t.data);
    const std::vector<int32_t> values = random.list(t.numel, -32768, 32767);
    for (int32_t i = 0; i < t.numel; ++i)
      to[i] = static_cast<int16_t>(i < 2 ? -32768 : values[static_cast<size_t>(i)]);
  }
  for (const int32_t v : {a.multiplier, a.shift, a.y_min, a.y_max}) call.integer(v);
  call.tensor(ScalarType::s16, whole, order);
  return call;
}

TEST(MulS16Kernel, EqualsTheReference) {
  KernelCases cases;
  const MulS16Args table[] = {
      {37, 37, 2147483647, 14, -32768, 32767}, {64, 64, 1073741824, 0, -100, 100},
      {11, 11, 1500000000, 30, -32768, 32767}, {60, 5, 1999999999, 15, 0, 32767},
      {91, 7, 1234567890, 16, -32768, 32767},  {3, 3, 0, 1, -32768, 32767},
  };
  uint32_t seed = 1;
  for (const MulS16Args& a : table)
    for (const bool swapped : {false, true}) {
      Random random(seed++);
      TestCall call = call_of(a, swapped, random);
      cases.run(std::to_string(a.count) + " of " + std::to_string(a.period), call);
      const auto *x = data_of<int16_t>(call.tensor_at(0)),
                 *other = data_of<int16_t>(call.tensor_at(1));
      std::vector<int16_t> expected;
      for (int32_t i = 0; i < a.count; ++i)
        expected.push_back(
            mul_s16_reference(a, x[swapped ? i % a.period : i], other[swapped ? i : i % a.period]));
      cases.expect(6, expected);
    }
}

TEST(MulS16Kernel, Refuses) {
  const auto make = [] {
    Random random(7);
    return call_of({20, 20, 2000000000, 15, -32768, 32767}, false, random);
  };
  expect_refusals(make, {
                            {0, "must be int16", type(0, ScalarType::s8)},
                            {1, "must be int16", type(1, ScalarType::s8)},
                            {6, "must be int16", type(6, ScalarType::s8)},
                            {1,
                             "must have the sizes of the first, or one value for each channel of "
                             "an image stored channels-last",
                             size(1, 0, 19)},
                            {2, "is out of range", number(2, -1)},
                            {3, "must be 0..30", number(3, 31)},
                            {4, "must be -32768..32767", number(4, -32769)},
                            {5, "must be activation_min..32767", number(5, 32768)},
                        });
}

TEST(MulS16Kernel, StaysInsideItsTensors) {
  expect_inside(
      kMulS16,
      "x16:1,3,4,5:0231 x16:1,3,1,1:0231 i:2000000000 i:15 i:-32768 i:32767 x16:1,3,4,5:0231");
}

}  // namespace mul_s16_test
}  // namespace deuteron

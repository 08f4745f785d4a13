// SPDX-License-Identifier: Apache-2.0
// rescale_16x8 of each pair of types and its binding against the reference, bit for bit; and
// refusals.
#include "kernels/requantize/16x8/kernel.h"

#include "kernels/common/kernel_test.h"
#include "kernels/common/kernels.h"
#include "kernels/common/test_spoiled_calls.h"
#include "kernels/common/test_steps.h"
#include "kernels/requantize/16x8/reference.h"

namespace deuteron {
namespace rescale_16x8_test {

TestCall call_of(const Rescale16x8Args& a, bool from_s8, bool to_s8, Random& random) {
  TestCall call(kRescale16x8);
  if (from_s8) random.fill(call.tensor(ScalarType::s8, {a.count}));
  else add_int16(call, random, {a.count});
  for (const int32_t v : {a.x_zero, a.multiplier, a.shift, a.below_multiplier, a.below_shift,
                          a.y_zero, a.y_min, a.y_max})
    call.integer(v);
  call.tensor(to_s8 ? ScalarType::s8 : ScalarType::s16, {a.count});
  return call;
}

struct Case {
  const char* name;
  bool from_s8, to_s8;
  Rescale16x8Args a;
};
const Case kCases[] = {
    {"the same steps", false, false, {64, 0, 1 << 30, 1, 1 << 30, 1, 0, -32768, 32767}},
    {"finer steps, relu", false, false, {37, 0, 1999999999, 2, 1999999999, 2, 0, 0, 30000}},
    {"coarser steps", false, false, {37, 0, 1234567890, -3, 1234567890, -3, 0, -32768, 32767}},
    {"leaky", false, false, {50, 0, 1999999999, 0, 1234567890, -4, 0, -32768, 32767}},
    {"leaky, and it turns round",
     false,
     false,
     {50, 0, 1999999999, 0, -1234567890, -2, 0, -32768, 32767}},
    {"int8 to int16", true, false, {64, -7, 1500000000, 8, 1500000000, 8, 0, -32768, 32767}},
    {"int16 to int8", false, true, {64, 0, 1500000000, -7, 1500000000, -7, 11, -128, 127}},
    {"from the least int16 on",
     false,
     true,
     {64, -32768, 1500000000, -8, 1500000000, -8, -128, -128, 127}},
    {"nothing is left", false, false, {5, 0, 0, 0, 0, 0, 0, -32768, 32767}},
    {"a shift that wraps", false, false, {40, 0, 2147483647, 30, 2147483647, 30, 0, -32768, 32767}},
};

TEST(Rescale16x8Kernel, EqualsTheReference) {
  KernelCases cases;
  uint32_t seed = 1;
  for (const Case& k : kCases) {
    Random random(seed++);
    TestCall call = call_of(k.a, k.from_s8, k.to_s8, random);
    cases.run(k.name, call);
    std::vector<int16_t> wide;
    std::vector<int8_t> narrow;
    for (int32_t i = 0; i < k.a.count; ++i) {
      const int64_t x = k.from_s8 ? data_of<int8_t>(call.tensor_at(0))[i]
                                  : data_of<int16_t>(call.tensor_at(0))[i];
      const int64_t y = rescale_16x8_reference(k.a, x);
      wide.push_back(static_cast<int16_t>(y)), narrow.push_back(static_cast<int8_t>(y));
    }
    if (k.to_s8) cases.expect(9, narrow);
    else cases.expect(9, wide);
  }
}

TEST(Rescale16x8Kernel, Refuses) {
  const auto make = [] {
    Random random(7);
    return call_of(kCases[6].a, false, true, random);
  };
  expect_refusals(make, {
                            {0, "must be int16", type(0, ScalarType::s32)},
                            {0, "must be int16", type(0, ScalarType::s8)},
                            {9, "must have the sizes and the order of the input", size(9, 0, 63)},
                            {1, "must be -32768..32767", number(1, 32768)},
                            {6, "must be -128..127", number(6, 128)},
                            {2, "is out of range", number(2, int64_t{1} << 31)},
                            {3, "must be -31..30", number(3, -32)},
                            {4, "is out of range", number(4, INT32_MIN)},
                            {7, "must be -128..127", number(7, -129)},
                            {8, "must be activation_min..127", number(8, 128)},
                        });
}

TEST(Rescale16x8Kernel, StaysInsideItsTensors) {
  expect_inside(kRescale16x8,
                "x16:3,5 i:0 i:1500000000 i:-7 i:1500000000 i:-7 i:11 i:-128 i:127 x8:3,5");
}

}  // namespace rescale_16x8_test
}  // namespace deuteron

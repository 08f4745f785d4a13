// SPDX-License-Identifier: Apache-2.0
// add_s16 and its binding against the reference, bit for bit; and what prepare() refuses.
#include "kernels/add/s16/kernel.h"

#include "kernels/add/s16/reference.h"
#include "kernels/common/kernel_test.h"
#include "kernels/common/kernels.h"

namespace deuteron {
namespace add_s16_test {

TestCall call_of(const AddS16Args& a, Random& random) {
  TestCall call(kAddS16);
  for (int k = 0; k < 2; ++k) {
    auto* to = static_cast<int16_t*>(call.tensor(ScalarType::s16, {a.count}).data);
    const std::vector<int32_t> values = random.list(a.count, -32768, 32767);
    for (int32_t i = 0; i < a.count; ++i)
      to[i] = static_cast<int16_t>(i < 4 ? (i % 2 == k ? -32768 : 32767)
                                         : values[static_cast<size_t>(i)]);
  }
  for (const int32_t v : {a.x_factor, a.other_factor, a.shift, a.y_min, a.y_max}) call.integer(v);
  call.tensor(ScalarType::s16, {a.count});
  return call;
}

TEST(AddS16Kernel, EqualsTheReference) {
  KernelCases cases;
  const AddS16Args table[] = {
      {37, 32767, 32000, 16, -32768, 32767},
      {5, 65535, 0, 15, -32768, 32767},
      {64, 1, -1, 1, -100, 100},
      {11, -20000, 45533, 14, 0, 32767},
      {1, 3, 5, 30, -32768, 32767},
  };
  uint32_t seed = 1;
  for (const AddS16Args& a : table) {
    Random random(seed++);
    TestCall call = call_of(a, random);
    cases.run("factors " + std::to_string(a.x_factor) + ", " + std::to_string(a.other_factor),
              call);
    std::vector<int16_t> expected;
    for (int32_t i = 0; i < a.count; ++i)
      expected.push_back(add_s16_reference(a, data_of<int16_t>(call.tensor_at(0))[i],
                                           data_of<int16_t>(call.tensor_at(1))[i]));
    cases.expect(7, expected);
  }
}

TEST(AddS16Kernel, RefusesWhatItsContractExcludes) {
  struct Spoiled {
    int argument;
    const char* why;
    void (*spoil)(TestCall&);
  };
  const Spoiled table[] = {
      {0, "int8", [](TestCall& c) { c.tensor_at(0).type = ScalarType::s8; }},
      {1, "another size", [](TestCall& c) { c.sizes_at(1)[0] -= 1; }},
      {4, "a sum that leaves int32",
       [](TestCall& c) { c.argument(2).integer = 65535, c.argument(3).integer = 65535; }},
      {4, "no shift", [](TestCall& c) { c.argument(4).integer = 0; }},
      {6, "bounds turned round",
       [](TestCall& c) { c.argument(6).integer = -32768, c.argument(5).integer = 0; }},
  };
  for (const Spoiled& s : table) {
    Random random(7);
    TestCall call = call_of({20, 100, 100, 8, -32768, 32767}, random);
    s.spoil(call);
    EXPECT_EQ(call.refused(), s.argument) << s.why;
  }
}

}  // namespace add_s16_test
}  // namespace deuteron

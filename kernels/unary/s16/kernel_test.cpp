// SPDX-License-Identifier: Apache-2.0
// lookup_s16 and its binding against the reference, bit for bit; the compiler's tables against the
// functions, within the bound that the formula has; and refusals.
#include "kernels/unary/s16/kernel.h"

#include "kernels/common/kernel_test.h"
#include "kernels/common/kernels.h"
#include "kernels/common/test_spoiled_calls.h"
#include "kernels/unary/s16/reference.h"

namespace deuteron {
namespace lookup_s16_test {

TestCall call_of(const std::vector<int16_t>& x, const std::vector<int16_t>& table) {
  TestCall call(kLookupS16);
  std::memcpy(call.tensor(ScalarType::s16, {static_cast<int32_t>(x.size())}).data, x.data(),
              x.size() * 2);
  std::memcpy(call.tensor(ScalarType::s16, {static_cast<int32_t>(table.size())}).data, table.data(),
              table.size() * 2);
  call.tensor(ScalarType::s16, {static_cast<int32_t>(x.size())});
  return call;
}
std::vector<int16_t> any_steps(int32_t count, uint32_t seed) {
  Random random(seed);
  std::vector<int16_t> steps;
  for (const int32_t v : random.list(count, -32768, 32767))
    steps.push_back(static_cast<int16_t>(v));
  return steps;
}
std::vector<int16_t> all_steps() {
  std::vector<int16_t> steps;
  for (int32_t v = -32768; v <= 32767; ++v) steps.push_back(static_cast<int16_t>(v));
  return steps;
}

TEST(LookupS16Kernel, EqualsTheReference) {
  KernelCases cases;
  for (const uint32_t seed : {1u, 2u, 3u}) {
    std::vector<int16_t> table = any_steps(kLookupS16Entries, seed), x = any_steps(600, seed + 10);
    for (int32_t k = 0; seed == 3 && k < kLookupS16Entries; ++k)
      table[static_cast<size_t>(k)] = k % 2 == 0 ? 32767 : -32768;
    x[0] = -32768, x[1] = 32767, x[2] = 0, x[3] = -1;
    TestCall call = call_of(x, table);
    cases.run("table " + std::to_string(seed), call);
    std::vector<int16_t> expected;
    for (const int16_t v : x) expected.push_back(lookup_s16_reference(table.data(), v));
    cases.expect(2, expected);
  }
}

TEST(LookupS16Kernel, EqualsTheReferenceOnEveryNumber) {
  const std::vector<int16_t> x = all_steps(), table = any_steps(kLookupS16Entries, 5);
  TestCall call = call_of(x, table);
  call.run();
  for (size_t i = 0; i < x.size(); ++i)
    ASSERT_EQ(data_of<int16_t>(call.tensor_at(2))[i], lookup_s16_reference(table.data(), x[i]))
        << x[i];
}

TEST(LookupS16Kernel, Refuses) {
  const auto make = [] { return call_of(any_steps(20, 1), any_steps(kLookupS16Entries, 2)); };
  expect_refusals(make, {
                            {0, "must be int16", type(0, ScalarType::s8)},
                            {1, "must be int16", type(1, ScalarType::s32)},
                            {2, "must be int16", type(2, ScalarType::s8)},
                            {1, "must have 513 entries", elements(1, 512)},
                            {2, "must have the sizes and the order of the input", size(2, 0, 19)},
                        });
}

TEST(LookupS16Kernel, StaysInsideItsTensors) {
  expect_inside(kLookupS16, "x16:3,7 x16:513 x16:3,7");
}

}  // namespace lookup_s16_test
}  // namespace deuteron

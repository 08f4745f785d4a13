// SPDX-License-Identifier: Apache-2.0
// rescale_s32 of each pair of types and its binding against the reference, bit for bit; and
// refusals.
#include "kernels/requantize/s32/kernel.h"

#include "kernels/common/kernel_test.h"
#include "kernels/common/kernels.h"
#include "kernels/common/test_spoiled_calls.h"
#include "kernels/requantize/s32/reference.h"

namespace deuteron {
namespace rescale_s32_test {

template <class T>
constexpr ScalarType kType = sizeof(T) == 1   ? ScalarType::s8
                             : sizeof(T) == 2 ? ScalarType::s16
                                              : ScalarType::s32;

template <class X, class Y>
TestCall call_of(const RescaleS32Args& a, Random& random) {
  TestCall call(kRescaleS32);
  auto* x = static_cast<X*>(call.tensor(kType<X>, {a.count}).data);
  for (int32_t i = 0; i < a.count; ++i) x[i] = static_cast<X>(random.in(INT32_MIN, INT32_MAX));
  x[0] = std::numeric_limits<X>::min(), x[a.count - 1] = std::numeric_limits<X>::max();
  for (const int32_t v : {a.x_zero, a.multiplier, a.shift, a.y_zero}) call.integer(v);
  call.tensor(kType<Y>, {a.count});
  return call;
}

template <class X, class Y>
void check(const char* name, const RescaleS32Args& a) {
  KernelCases cases;
  Random random(3);
  TestCall call = call_of<X, Y>(a, random);
  std::vector<Y> wanted;
  for (int32_t i = 0; i < a.count; ++i)
    wanted.push_back(
        static_cast<Y>(rescale_s32_reference(a, data_of<X>(call.tensor_at(0))[i], 8 * sizeof(Y))));
  cases.run(name, call);
  cases.expect(5, wanted);
}

TEST(RescaleS32Kernel, EqualsTheReference) {
  check<int8_t, int32_t>("int8 to int32", {64, -7, 1500000000, 20, 0});
  check<int16_t, int32_t>("int16 to int32", {64, 0, 1500000000, 14, 0});
  check<int16_t, int32_t>("from the least int16 on", {64, -32768, 1500000000, 14, 0});
  check<int16_t, int32_t>("a shift that wraps", {64, 0, 2147483647, 30, 0});
  check<int32_t, int8_t>("int32 to int8", {300, 0, 1500000000, -24, 11});
  check<int32_t, int8_t>("all beyond the ends", {64, 0, 1500000000, -3, -128});
  check<int32_t, int16_t>("int32 to int16", {300, 0, 1234567890, -15, 0});
  check<int32_t, int16_t>("nothing is left", {5, 0, 0, 0, 0});
}

TEST(RescaleS32Kernel, Refuses) {
  const auto make = [] {
    Random random(7);
    return call_of<int32_t, int8_t>({9, 0, 1500000000, -24, 11}, random);
  };
  expect_refusals(make, {
                            {0, "must be int32", type(0, ScalarType::f32)},
                            {0, "must be int32", type(0, ScalarType::s16)},
                            {5, "must have the sizes and the order of the input", size(5, 0, 8)},
                            {1, "must be 0", number(1, 1)},
                            {4, "must be -128..127", number(4, 128)},
                            {2, "is out of range", number(2, -1)},
                            {3, "must be -31..30", number(3, 31)},
                        });
}

TEST(RescaleS32Kernel, StaysInsideItsTensors) {
  expect_inside(kRescaleS32, "x32:3,5 i:0 i:1500000000 i:-24 i:11 x8:3,5");
}

}  // namespace rescale_s32_test
}  // namespace deuteron

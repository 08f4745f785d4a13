// SPDX-License-Identifier: Apache-2.0
// requantize_s8 and requantize_s16 and their bindings against the reference, bit for bit; and what
// prepare() refuses.
#include "kernels/requantize/kernel.h"

#include "kernels/common/kernel_test.h"
#include "kernels/common/kernels.h"
#include "kernels/requantize/reference.h"

namespace deuteron {
namespace requantize_test {

constexpr int kOut = 7;

template <class From, class To>
TestCall call_of(const Kernel& kernel, const RequantizeArgs& a, const std::vector<From>& x) {
  TestCall call(kernel);
  const auto type = [](auto v) { return sizeof v == 1 ? ScalarType::s8 : ScalarType::s16; };
  std::memcpy(call.tensor(type(From{}), {a.count}).data, x.data(), x.size() * sizeof(From));
  for (const int32_t v : {a.x_zero, a.factor, a.shift, a.y_zero, a.y_min, a.y_max}) call.integer(v);
  call.tensor(type(To{}), {a.count});
  return call;
}

// Every number of the operand's type, and five more: a rest behind the last vector.
template <class From>
std::vector<From> all_steps() {
  std::vector<From> x;
  for (int32_t v = std::numeric_limits<From>::min(); v <= std::numeric_limits<From>::max(); ++v)
    x.push_back(static_cast<From>(v));
  for (int32_t v = -2; v <= 2; ++v) x.push_back(static_cast<From>(v));
  return x;
}

template <class From, class To>
void equals_the_reference(const Kernel& kernel, const std::vector<From>& x,
                          std::initializer_list<RequantizeArgs> table) {
  KernelCases cases;
  for (RequantizeArgs a : table) {
    a.count = static_cast<int32_t>(x.size());
    TestCall call = call_of<From, To>(kernel, a, x);
    cases.run("factor " + std::to_string(a.factor) + ", shift " + std::to_string(a.shift), call);
    std::vector<To> expected;
    for (const From v : x)
      expected.push_back(
          static_cast<To>(requantize_reference(a, sizeof(From) == 1 ? kRequantizeSteps : 1, v)));
    cases.expect(kOut, expected);
  }
}

TEST(RequantizeKernel, MakesInt8AsTheReference) {
  const std::initializer_list<RequantizeArgs> table = {
      {0, 0, 16384, -7, 0, -128, 127},  {0, 0, 32767, -6, -128, -128, 127},
      {0, 0, 23170, -7, 127, -100, 90}, {0, 0, 20000, -15, 5, -128, 127},
      {0, 0, 20000, 15, 5, -128, 127},  {0, 0, 0, 0, -3, -128, 127}};
  equals_the_reference<int16_t, int8_t>(kRequantizeS8, all_steps<int16_t>(), table);
}

TEST(RequantizeKernel, MakesInt16AsTheReference) {
  const std::initializer_list<RequantizeArgs> table = {
      {0, -128, 16384, 1, 0, 0, 32640},     {0, 127, 16384, 1, 0, -32640, 0},
      {0, 0, 32767, 1, 0, -32768, 32767},   {0, -3, 23170, 0, 0, -32768, 32767},
      {0, 5, 20000, -15, 0, -32768, 32767}, {0, 5, 20000, 15, 0, -100, 20000}};
  equals_the_reference<int8_t, int16_t>(kRequantizeS16, all_steps<int8_t>(), table);
}

TEST(RequantizeKernel, Refuses) {
  const auto s8 = [] {
    return call_of<int16_t, int8_t>(kRequantizeS8, {4, 0, 100, 0, 5, -128, 127}, {1, 2, 3, 4});
  };
  expect_refusals(s8, {
                          {0, "must be int16", type(0, ScalarType::s32)},
                          {0, "must be 2-aligned", misaligned(0, 1)},
                          {1, "must be 0", number(1, 1)},
                          {2, "must be 0..32767", number(2, 32768)},
                          {2, "must be 0..32767", number(2, -1)},
                          {3, "must be -15..15", number(3, 16)},
                          {3, "must be -15..15", number(3, -16)},
                          {4, "must be -128..127", number(4, 128)},
                          {5, "must be -128..127", number(5, -129)},
                          {6, "must be activation_min..127", number(6, 128)},
                          {6, "must be activation_min..127", numbers(5, 5, 6, 4)},
                          {7, "must be int8", type(7, ScalarType::u8)},
                          {7, "must have the sizes and the order of the input", size(7, 0, 5)},
                      });
  const auto s16 = [] {
    return call_of<int8_t, int16_t>(kRequantizeS16, {4, 5, 100, 0, 0, -32768, 32767}, {1, 2, 3, 4});
  };
  expect_refusals(s16, {
                           {0, "must be int8", type(0, ScalarType::u8)},
                           {1, "must be -128..127", number(1, -129)},
                           {4, "must be 0", number(4, 1)},
                           {6, "must be activation_min..32767", number(6, 32768)},
                           {7, "must be int16", type(7, ScalarType::s8)},
                           {7, "must be 2-aligned", misaligned(7, 1)},
                       });
}

}  // namespace requantize_test
}  // namespace deuteron

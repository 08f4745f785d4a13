// SPDX-License-Identifier: Apache-2.0
// linear_s8 in both forms of its first summand against the reference, bit for bit; and what
// prepare() refuses.
#include "kernels/linear/kernel.h"

#include "kernels/common/kernel_test.h"
#include "kernels/common/kernels.h"
#include "kernels/linear/reference.h"

namespace deuteron {
namespace linear_test {

enum class Form { none, bias, kernel_sum };
struct Case {
  std::vector<int32_t> leading;
  LinearArgs a;
  Form form = Form::bias;
};

// The kernel_sum that a compiler for MVE writes: the bias plus x_offset times the sum of each row
// of weights.
std::vector<int32_t> kernel_sums(const LinearArgs& a, const Tensor& weight,
                                 const std::vector<int32_t>& bias) {
  std::vector<int32_t> sums = bias;
  for (int32_t o = 0; o < a.out; ++o)
    for (int32_t i = 0; i < a.in; ++i)
      sums[static_cast<size_t>(o)] +=
          a.x_offset * (data_of<int8_t>(weight)[o * a.in + i] + a.weight_offset);
  return sums;
}

TestCall call_of(const Case& k, const std::vector<int32_t>& bias, Random& random) {
  TestCall call(kQuantizedLinear);
  std::vector<int32_t> in = k.leading, out = k.leading;
  in.push_back(k.a.in);
  out.push_back(k.a.out);
  random.fill(call.tensor(ScalarType::s8, in));
  Tensor& weight = call.tensor(ScalarType::s8, {k.a.out, k.a.in});
  random.fill(weight);
  if (k.form == Form::bias) call.constants(bias);
  else call.none();
  if (k.form == Form::kernel_sum) {
    const std::vector<int32_t> sums = kernel_sums(k.a, weight, bias);
    Tensor& t = call.tensor(ScalarType::s32, {1, k.a.out});
    std::memcpy(t.data, sums.data(), sums.size() * 4);
    t.constant = true;
  } else {
    call.none();
  }
  for (int32_t v : {k.a.x_offset, k.a.weight_offset, k.a.y_zero}) call.integer(v);
  call.integers({k.a.multiplier});
  call.integers({k.a.shift});
  call.integer(k.a.y_max);
  call.integer(k.a.y_min);
  call.tensor(ScalarType::s8, out);
  return call;
}

void check(KernelCases& cases, const Case& k, uint32_t seed) {
  const int64_t form = static_cast<int64_t>(k.form);
  const std::string name =
      line("rows, in, out, offsets, form",
           {k.a.rows, k.a.in, k.a.out, k.a.x_offset, k.a.weight_offset, form}, seed);
  Random random(seed);
  const std::vector<int32_t> bias = random.list(k.a.out, -40000, 40000);
  TestCall call = call_of(k, bias, random);
  cases.run(name, call);
  std::vector<int8_t> expected(static_cast<size_t>(k.a.rows * k.a.out));
  linear_reference(k.a, data_of<int8_t>(call.tensor_at(0)), data_of<int8_t>(call.tensor_at(1)),
                   k.form == Form::none ? nullptr : bias.data(), expected.data());
  cases.expect(11, expected);
}

TEST(LinearKernel, EqualsTheReference) {
  KernelCases cases;
  struct Shape {
    std::vector<int32_t> leading;
    int32_t rows, in, out;
  };
  const Shape shapes[] = {
      {{1}, 1, 640, 128}, {{}, 1, 7, 3},     {{5}, 5, 9, 11},    {{2, 3}, 6, 13, 67},
      {{1}, 1, 1, 1},     {{3}, 3, 1025, 5}, {{2}, 2, 5000, 70}, {{2, 1, 3, 2}, 12, 33, 4},
      {{0}, 0, 5, 4},     {{1}, 1, 1024, 2}, {{7}, 7, 2048, 65}};
  const LinearArgs settings[] = {{0, 0, 0, -120, 0, -128, 1231339291, -7, -128, 127},
                                 {0, 0, 0, 128, 0, 127, 1073741824, -9, -50, 60},
                                 {0, 0, 0, -5, 17, 3, 2147483647, -12, -128, 127},
                                 {0, 0, 0, 255, -255, 0, 1500000000, -31, -128, 127},
                                 {0, 0, 0, 0, 0, -1, 1999999999, 30, -128, 127}};
  uint32_t seed = 1;
  for (const Shape& s : shapes)
    for (LinearArgs a : settings) {
      a.rows = s.rows, a.in = s.in, a.out = s.out;
      for (const Form form : {Form::none, Form::bias, Form::kernel_sum})
        check(cases, {s.leading, a, form}, seed++);
    }
}

TEST(LinearKernel, RefusesWhatWouldLeaveATensor) {
  Case k{{4}, {4, 9, 6, 3, 0, 1, 1231339291, -7, -128, 127}, Form::bias};
  const auto make = [&] {
    Random random(7);
    return call_of(k, random.list(6, -9, 9), random);
  };
  expect_refusals(make,
                  {
                      {0, "must be stored in the order of its dimensions", order(0, {1, 0})},
                      {1, "must be stored in the order of its dimensions", order(1, {1, 0})},
                      {11, "must be stored in the order of its dimensions", order(11, {1, 0})},
                      {0, "must have a dimension", rank(0, 0)},
                      {0, "must be int8", type(0, ScalarType::s16)},
                      {0, "must have as many columns as the weight", size(0, 1, 8)},
                      {1, "must not be empty", size(1, 1, 0)},
                      {0, "must have as many columns as the weight", size(1, 1, 8)},
                      {11, "must have as many columns as the weight has rows", size(1, 0, 7)},
                      {11, "must have the rows of the input", size(11, 0, 5)},
                      {11, "has the wrong rank", rank(11, 1)},
                      {2, "must have one entry for each output channel", elements(2, 5)},
                      {3, "must be none where there is a bias",
                       [](TestCall& c) { c.argument(3) = c.argument(2); }},
                      {4, "must be -255..255", number(4, 256)},
                      {5, "must be -255..255", number(5, -256)},
                      {6, "must be -128..127", number(6, 200)},
                      {7, "must have one number", items(7, 0)},
                      {7, "is out of range", item(7, 0, int64_t{1} << 31)},
                      {8, "must be -31..30", item(8, 0, 31)},
                      {9, "must be -128..127", number(9, 128)},
                      {10, "must be -128..127", number(10, -129)},
                  });
  k.form = Form::kernel_sum;
  expect_refusals(make, {{3, "must have one entry for each output channel", elements(3, 7)}});
}

}  // namespace linear_test
}  // namespace deuteron

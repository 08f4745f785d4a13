// SPDX-License-Identifier: Apache-2.0
// quantize_s8 and quantize_s16 against the reference, bit for bit: every kind of float, ties, ends,
// in place; and refusals.
#include "kernels/quantize/kernel.h"

#include <bit>
#include <cmath>
#include <limits>

#include "kernels/common/kernel_test.h"
#include "kernels/common/kernels.h"
#include "kernels/quantize/reference.h"

namespace deuteron {
namespace quantize_test {

TestCall call_of(ScalarType type, const std::vector<float>& x, double scale, int64_t zero,
                 int64_t low, int64_t high) {
  TestCall call(kQuantizePerTensor);
  Tensor& t = call.tensor(ScalarType::f32, {static_cast<int32_t>(x.size())});
  std::memcpy(t.data, x.data(), x.size() * 4);
  call.real(scale);
  for (int64_t v : {zero, low, high, static_cast<int64_t>(type)}) call.integer(v);
  call.tensor(type, {static_cast<int32_t>(x.size())});
  return call;
}

// Ties and their neighbours at this scale, the specials, and any bits at all.
std::vector<float> floats(float scale) {
  std::vector<float> x{0.0f,
                       -0.0f,
                       1e30f,
                       -1e30f,
                       3e9f,
                       -3e9f,
                       2147483648.0f,
                       -2147483648.0f,
                       std::numeric_limits<float>::infinity(),
                       -std::numeric_limits<float>::infinity(),
                       std::numeric_limits<float>::quiet_NaN(),
                       -std::numeric_limits<float>::quiet_NaN(),
                       std::numeric_limits<float>::max(),
                       std::numeric_limits<float>::lowest(),
                       std::numeric_limits<float>::denorm_min()};
  for (int i = -600; i <= 600; ++i) {
    const float tie = static_cast<float>(i) * 0.5f * scale;
    for (const float v : {tie, std::nextafter(tie, 1e9f), std::nextafter(tie, -1e9f)})
      x.push_back(v);
  }
  Random random(1);
  for (int i = 0; i < 20000; ++i)
    x.push_back(std::bit_cast<float>(static_cast<uint32_t>(random.engine())));
  std::normal_distribution<float> normal(0, 60 * scale);
  for (int i = 0; i < 20001; ++i) x.push_back(normal(random.engine));
  return x;
}

TEST(QuantizeKernel, EqualsTheReferenceOnEveryKindOfFloat) {
  KernelCases cases;
  struct Setting {
    float scale;
    int32_t zero, low, high;
  };
  for (const Setting& s :
       {Setting{0.02092f, -12, -128, 127}, Setting{1.0f, 0, -128, 127},
        Setting{0.1f, 127, -127, 127}, Setting{3.5f, -128, -128, 127},
        Setting{1e-38f, 5, -128, 127}, Setting{2e30f, 5, -100, 3}, Setting{0.5f, 100, -5, 20}}) {
    const std::vector<float> x = floats(s.scale);
    const QuantizeArgs a{static_cast<int32_t>(x.size()), 1.0f / s.scale, s.zero, s.low, s.high};
    TestCall call = call_of(ScalarType::s8, x, s.scale, s.zero, s.low, s.high);
    cases.run("s8, scale " + std::to_string(s.scale), call);
    std::vector<int8_t> expected(x.size());
    (cases.isa() == Isa::mve ? quantize_mve_reference
                             : quantize_reference<int8_t>)(a, x.data(), expected.data());
    cases.expect(6, expected);

    const QuantizeArgs wide{a.count, a.reciprocal, s.zero * 200, s.low * 250, s.high * 250};
    TestCall call16 = call_of(ScalarType::s16, x, s.scale, wide.zero, wide.low, wide.high);
    cases.run("s16, scale " + std::to_string(s.scale), call16);
    std::vector<int16_t> expected16(x.size());
    quantize_reference(wide, x.data(), expected16.data());
    cases.expect(6, expected16);
  }
}

// A program for the vector extension has its arithmetic on the host too: whole blocks of 16 round
// once, what is behind them twice.
TEST(QuantizeKernel, OfAProgramForMveRoundsTheExactProduct) {
  for (const float scale : {0.02092f, 2.0f / 255, 1.0f, 1e-38f, 2e-38f, 0x1p127f}) {
    std::vector<float> x = floats(scale);
    for (const size_t count : {size_t{1}, size_t{15}, size_t{16}, size_t{47}, x.size()}) {
      x.resize(count);
      TestCall call = call_of(ScalarType::s8, x, scale, -3, -128, 127);
      call.isa = Isa::mve;
      call.run();
      std::vector<int8_t> expected(count), twice(count);
      const QuantizeArgs a{static_cast<int32_t>(count), 1.0f / scale, -3, -128, 127};
      quantize_mve_reference(a, x.data(), expected.data());
      EXPECT_EQ(contents<int8_t>(call.tensor_at(6)), expected)
          << count << " elements, scale " << scale;
      x = floats(scale);
    }
  }
  // 2/255: every tie of the images of cifarnet, where the product rounds to a half and is none.
  std::vector<float> x;
  for (int i = 0; i < 256; ++i) x.push_back(static_cast<float>(i) / 255 * 2 - 1);
  const QuantizeArgs a{256, 1.0f / (2.0f / 255), 0, -128, 127};
  std::vector<int8_t> once(256), twice(256);
  quantize_s8_as_mve(a, x.data(), once.data());
  quantize_s8(a, x.data(), twice.data());
  EXPECT_NE(once, twice);
}

TEST(QuantizeKernel, SaturatesOnTheRightSide) {
  const float inf = std::numeric_limits<float>::infinity();
  TestCall call =
      call_of(ScalarType::s8,
              {1e30f, -1e30f, 3e9f, -3e9f, inf, -inf, std::numeric_limits<float>::quiet_NaN()}, 0.5,
              -64, -128, 127);
  call.run();
  EXPECT_EQ(contents<int8_t>(call.tensor_at(6)),
            (std::vector<int8_t>{127, -128, 127, -128, 127, -128, -64}));
}

TEST(QuantizeKernel, WorksInPlace) {
  KernelCases cases;
  EXPECT_TRUE(kQuantizePerTensor.in_place);
  const std::vector<float> x = floats(0.1f);
  TestCall call = call_of(ScalarType::s8, x, 0.1f, 3, -128, 127);
  call.tensor_at(6).data = call.tensor_at(0).data;
  cases.run("in place", call);
  std::vector<int8_t> expected(x.size());
  (cases.isa() == Isa::mve
       ? quantize_mve_reference
       : quantize_reference<int8_t>)({static_cast<int32_t>(x.size()), 1.0f / 0.1f, 3, -128, 127},
                                     x.data(), expected.data());
  cases.expect(6, expected);
}

TEST(QuantizeKernel, Refuses) {
  const auto make = [] { return call_of(ScalarType::s8, {1, 2, 3, 4}, 0.1, 3, -128, 127); };
  expect_refusals(make, {
                            {0, "must be float32", type(0, ScalarType::s32)},
                            {0, "must be 4-aligned", misaligned(0, 1)},
                            {2, "must be -128..127", number(2, 128)},
                            {3, "must be -128..127", number(3, -129)},
                            {4, "must be activation_min..127", number(4, 128)},
                            {4, "must be activation_min..127", numbers(3, 5, 4, 4)},
                            {5, "must be the dtype of the output", number(5, 2)},
                            {6, "must be int8 or int16", type(6, ScalarType::u8)},
                            {6, "must have the sizes and the order of the input", size(6, 0, 5)},
                        });
  for (const double scale :
       {0.0, -0.5, std::nan(""), 1e39, 1e-39, 1e-60, std::numeric_limits<double>::infinity()})
    expect_refusals(make, {{1, "must be positive, with a finite reciprocal", real(1, scale)}});
}

}  // namespace quantize_test
}  // namespace deuteron

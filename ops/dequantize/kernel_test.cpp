// dequantize_s8 and dequantize_s16 against the reference on every value; and what prepare() refuses.
#include "ops/dequantize/kernel.h"

#include <cmath>

#include "ops/dequantize/reference.h"
#include "ops/kernels.h"
#include "ops/test_call.h"

namespace deuteron {
namespace {

TestCall call_of(ScalarType type, int32_t count, double scale, int64_t zero, int64_t low, int64_t high) {
  TestCall call(kDequantizePerTensor);
  Tensor& t = call.tensor(type, {count});
  for (int32_t i = 0; i < count; ++i)
    if (type == ScalarType::s8) data_of<int8_t>(t)[i] = static_cast<int8_t>(i - count / 2);
    else data_of<int16_t>(t)[i] = static_cast<int16_t>(i - count / 2);
  call.real(scale);
  for (int64_t v : {zero, low, high, static_cast<int64_t>(type)}) call.integer(v);
  call.tensor(ScalarType::f32, {count});
  return call;
}

TEST(DequantizeKernel, EqualsTheReferenceOnEveryValue) {
  for (const float scale : {0.02092f, 1.0f, 1e-38f, 1e36f, 0.0039215689f, 7.7e-42f}) {
    for (const int32_t zero : {-128, -12, 0, 127}) {
      TestCall call = call_of(ScalarType::s8, 256, scale, zero, -128, 127);
      call.run();
      std::vector<float> expected(256);
      dequantize_reference({256, scale, zero}, data_of<int8_t>(call.tensor_at(0)), expected.data());
      EXPECT_EQ(contents<float>(call.tensor_at(6)), expected);
      TestCall call16 = call_of(ScalarType::s16, 65536, scale, zero * 200, -32768, 32767);
      call16.run();
      std::vector<float> expected16(65536);
      dequantize_reference({65536, scale, zero * 200}, data_of<int16_t>(call16.tensor_at(0)), expected16.data());
      EXPECT_EQ(contents<float>(call16.tensor_at(6)), expected16);
    }
  }
}

TEST(DequantizeKernel, Refuses) {
  const auto refused = [](auto spoil) {
    TestCall call = call_of(ScalarType::s8, 5, 0.1, 3, -128, 127);
    spoil(call);
    return call.refused();
  };
  EXPECT_EQ(refused([](TestCall&) {}), -1);
  EXPECT_EQ(refused([](TestCall& c) { c.tensor_at(0).type = ScalarType::u8; }), 0);
  EXPECT_EQ(refused([](TestCall& c) { c.argument(1).real = std::nan(""); }), 1);
  EXPECT_EQ(refused([](TestCall& c) { c.argument(1).real = 1e40; }), 1);
  EXPECT_EQ(refused([](TestCall& c) { c.argument(2).integer = 128; }), 2);
  EXPECT_EQ(refused([](TestCall& c) { c.argument(3).integer = -129; }), 3);
  EXPECT_EQ(refused([](TestCall& c) { c.argument(4).integer = 128; }), 4);
  EXPECT_EQ(refused([](TestCall& c) { c.argument(5).integer = 2; }), 5);
  EXPECT_EQ(refused([](TestCall& c) { c.tensor_at(6).type = ScalarType::s8; }), 6);
  EXPECT_EQ(refused([](TestCall& c) { c.sizes_at(6)[0] = 6; }), 6);
  EXPECT_EQ(refused([](TestCall& c) { c.tensor_at(6).data = data_of<char>(c.tensor_at(6)) + 2; }), 6);
}

}  // namespace
}  // namespace deuteron

// SPDX-License-Identifier: Apache-2.0
// lstm_s8 and its binding against the reference, bit for bit, and against real numbers; the tables;
// and refusals.
#include "kernels/recurrent/lstm/kernel.h"

#include "kernels/common/kernels.h"
#include "kernels/common/test_spoiled_calls.h"
#include "kernels/recurrent/lstm/test_lstm.h"

namespace deuteron {
namespace lstm_test {

constexpr LstmNumbers kUsual{12, 3, 1400000000, 6, -7, 1300000000, -21};

TEST(LstmKernel, EqualsTheReference) {
  uint32_t seed = 1;
  for (const TestLayer& layer : test_layers())
    for (const int32_t bits : {0, 5, 11, 12, 13, 15}) {
      LstmNumbers v = kUsual;
      v.cell_bits = bits;
      SCOPED_TRACE(testing::Message()
                   << "layer " << &layer - test_layers().data() << " bits " << bits);
      expect_lstm_reference<int8_t>(kLstm, layer, v, seed++);
    }
}

TEST(LstmKernel, StaysDefinedAtTheEndsOfItsNumbers) {
  TestLayer layer = test_layers()[0];
  layer.most_bias = 1 << 30;
  for (const int shift : {1, 20, 45, 60}) {
    layer.shift = shift;
    layer.multiplier = INT32_MAX;
    expect_lstm_reference<int8_t>(kLstm, layer, {15, -128, INT32_MAX, 20, 127, INT32_MAX, 0},
                                  static_cast<uint32_t>(shift));
    expect_lstm_reference<int8_t>(kLstm, layer, {0, 127, -INT32_MAX, -31, -128, -INT32_MAX, -31},
                                  static_cast<uint32_t>(shift));
  }
}

TEST(LstmKernel, TakesMultipliersOfNothing) {
  Random random(3);
  TestCall call = lstm_call(kLstm, test_layers()[0], kUsual, random);
  for (const int i : {6, 7}) {
    const Tensor& t = call.tensor_at(i);
    std::fill_n(static_cast<int32_t*>(t.data), t.numel, 0);
  }
  EXPECT_EQ(call.refused(), -1);
}

TEST(LstmKernel, TheTableIsTanh) {
  for (int k = 0; k <= 256; ++k) EXPECT_EQ(kTanhTable[k], tanh_point_reference(k)) << k;
  double worst_tanh = 0, worst_sigmoid = 0;
  for (int v = -32768; v <= 32767; ++v) {
    worst_tanh = std::max(worst_tanh, std::fabs(tanh_q15(v) / 32768.0 - std::tanh(v / 4096.0)));
    worst_sigmoid = std::max(worst_sigmoid,
                             std::fabs(sigmoid_q15(v) / 32768.0 - 1 / (1 + std::exp(-v / 4096.0))));
    ASSERT_EQ(tanh_q15(v), tanh_reference(v, 7));
    ASSERT_EQ(sigmoid_q15(v), sigmoid_reference(v));
  }
  // Linear interpolation over 1/32: at most 1/32^2 / 8 * max |tanh''| = 9.4e-5, and a step of 2^-15
  // for rounding.
  EXPECT_LT(worst_tanh, 9.4e-5 + 0x1p-15);
  EXPECT_LT(worst_sigmoid, 4.7e-5 + 0x1p-15);
}

TEST(LstmKernel, Refuses) {
  const auto make = [&] {
    Random random(4);
    return lstm_call(kLstm, test_layers()[0], kUsual, random);
  };
  expect_common_refusals(make, 23);
  expect_refusals(make, {
                            {15, "must have a state for each direction and batch entry",
                             [](TestCall& c) { c.sizes_at(15)[2] += 1; }},
                            {15, "must be given when the hidden state is", absent(15)},
                            {16, "must be 0..15", number(16, 16)},
                            {17, "must be int8", number(17, 128)},
                            {18, "is out of range", number(18, INT32_MIN)},
                            {19, "must be -31..20", number(19, 21)},
                            {20, "must be int8", number(20, -129)},
                            {21, "is out of range", number(21, int64_t{1} << 31)},
                            {22, "must be -31..0", number(22, 1)},
                            {25, "must have a state for each direction and batch entry",
                             [](TestCall& c) { c.sizes_at(25)[1] += 1; }},
                            {26, "is too small", [](TestCall& c) { c.tensor_at(26).numel -= 1; }},
                            {26, "is not aligned", misaligned(26, 1)},
                        });
}

TEST(LstmKernel, StaysInsideItsTensorsWhateverTheArguments) {
  expect_inside(
      kLstm,
      "x8:2,3,4 x8:2,3,2 x8c:2,8,4 x8c:2,8,2 x32pc:2,8 x32pc:2,2,8 x32pc:2,8 x32pc:2,2,8 x32pc:2,8 "
      "b:0 b:0 b:1 i:-5 i:1500000000 i:-22 "
      "x8:2,3,2 i:12 i:3 i:1400000000 i:6 i:-7 i:1300000000 i:-21 x8:2,3,4 x8:2,3,2 x8:2,3,2 xu:4");
}

}  // namespace lstm_test
}  // namespace deuteron

// SPDX-License-Identifier: Apache-2.0
// lstm_s16 and its binding against the reference, bit for bit; and refusals.
#include "kernels/recurrent/lstm_s16/kernel.h"

#include "kernels/common/kernels.h"
#include "kernels/common/test_spoiled_calls.h"
#include "kernels/recurrent/lstm/test_lstm.h"

namespace deuteron {
namespace lstm_s16_test {

constexpr LstmNumbers kUsual{12, 0, 1400000000, -2, 0, 1300000000, -13};

TEST(LstmS16Kernel, EqualsTheReference) {
  uint32_t seed = 1;
  for (const TestLayer& layer : test_layers())
    for (const int32_t bits : {0, 5, 11, 12, 13, 15}) {
      LstmNumbers v = kUsual;
      v.cell_bits = bits;
      SCOPED_TRACE(testing::Message()
                   << "layer " << &layer - test_layers().data() << " bits " << bits);
      expect_lstm_reference<int16_t>(kLstmS16, on_int16(layer), v, seed++);
    }
}

TEST(LstmS16Kernel, StaysDefinedAtTheEndsOfItsNumbers) {
  TestLayer layer = on_int16(test_layers()[0]);
  layer.most_bias = 1 << 30;
  for (const int shift : {1, 20, 45, 60}) {
    layer.shift = shift;
    layer.multiplier = 65535;
    expect_lstm_reference<int16_t>(kLstmS16, layer,
                                   {15, -32768, INT32_MAX, 14, 32767, INT32_MAX, 0},
                                   static_cast<uint32_t>(shift));
    expect_lstm_reference<int16_t>(kLstmS16, layer,
                                   {0, 32767, -INT32_MAX, -31, -32768, -INT32_MAX, -31},
                                   static_cast<uint32_t>(shift));
  }
}

TEST(LstmS16Kernel, Refuses) {
  const auto make = [&] {
    Random random(4);
    return lstm_call(kLstmS16, on_int16(test_layers()[0]), kUsual, random);
  };
  expect_refusals(make, {
                            {0, "has the wrong dtype", type(0, ScalarType::s8)},
                            {0, "is not aligned", misaligned(0, 1)},
                            {1, "has the wrong dtype", type(1, ScalarType::s8)},
                            {2, "has the wrong dtype", type(2, ScalarType::s8)},
                            {3, "has the wrong dtype", type(3, ScalarType::s8)},
                            {6, "has a value out of range", entry(6, 0, 65536)},
                            {7, "has a value out of range", entry(7, 0, 65536)},
                            {12, "must be -32768..32767", number(12, 32768)},
                            {15, "has the wrong dtype", type(15, ScalarType::s8)},
                            {16, "must be 0..15", number(16, 16)},
                            {17, "must be int16", number(17, 32768)},
                            {20, "must be int16", number(20, -32769)},
                            {23, "has the wrong dtype", type(23, ScalarType::s8)},
                            {26, "is too small", [](TestCall& c) { c.tensor_at(26).numel -= 1; }},
                        });
}

TEST(LstmS16Kernel, StaysInsideItsTensorsWhateverTheArguments) {
  expect_inside(kLstmS16,
                "x16:2,3,4 x16:2,3,2 x16c:2,8,4 x16c:2,8,2 x32pc:2,8 x32pc:2,2,8 x32pc:2,8 "
                "x32pc:2,2,8 x32pc:2,8 b:0 b:0 b:1 i:-5 i:1500000000 "
                "i:-14 x16:2,3,2 i:12 i:3 i:1400000000 i:-2 i:-7 i:1300000000 i:-13 x16:2,3,4 "
                "x16:2,3,2 x16:2,3,2 xu:4");
}

}  // namespace lstm_s16_test
}  // namespace deuteron

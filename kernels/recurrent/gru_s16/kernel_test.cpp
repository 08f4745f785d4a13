// SPDX-License-Identifier: Apache-2.0
// gru_s16 and its binding against the reference, bit for bit; and refusals.
#include "kernels/recurrent/gru_s16/kernel.h"

#include "kernels/common/kernels.h"
#include "kernels/common/test_spoiled_calls.h"
#include "kernels/recurrent/gru/test_gru.h"

namespace deuteron {
namespace gru_s16_test {

constexpr GruNumbers kUsual{15, 0, 1400000000, 0};

TEST(GruS16Kernel, EqualsTheReference) {
  uint32_t seed = 1;
  for (const TestLayer& layer : test_layers())
    for (const int32_t bits : {0, 11, 14, 15}) {
      GruNumbers v = kUsual;
      v.state_bits = bits;
      SCOPED_TRACE(testing::Message()
                   << "layer " << &layer - test_layers().data() << " bits " << bits);
      expect_gru_reference<int16_t>(kGruS16, on_int16(layer), v, seed++);
    }
}

TEST(GruS16Kernel, StaysDefinedAtTheEndsOfItsNumbers) {
  TestLayer layer = on_int16(test_layers()[0]);
  layer.most_bias = 1 << 30;
  for (const int shift : {1, 20, 45, 60}) {
    layer.shift = shift;
    layer.multiplier = 65535;
    expect_gru_reference<int16_t>(kGruS16, layer, {15, -32768, INT32_MAX, 14},
                                  static_cast<uint32_t>(shift));
    expect_gru_reference<int16_t>(kGruS16, layer, {0, 32767, -INT32_MAX, -31},
                                  static_cast<uint32_t>(shift));
  }
}

TEST(GruS16Kernel, Refuses) {
  const auto make = [&] {
    Random random(4);
    return gru_call(kGruS16, on_int16(test_layers()[0]), kUsual, random);
  };
  expect_refusals(make, {
                            {0, "has the wrong dtype", type(0, ScalarType::s8)},
                            {6, "has a value out of range", entry(6, 0, 65536)},
                            {15, "must be 0..15", number(15, -1)},
                            {16, "must be int16", number(16, -32769)},
                            {17, "is out of range", number(17, INT32_MIN)},
                            {18, "must be -31..14", number(18, -32)},
                            {19, "has the wrong dtype", type(19, ScalarType::s8)},
                            {21, "is too small", [](TestCall& c) { c.tensor_at(21).numel -= 1; }},
                        });
}

TEST(GruS16Kernel, StaysInsideItsTensorsWhateverTheArguments) {
  expect_inside(kGruS16,
                "x16:2,3,4 x16:1,2,2 x16c:1,6,4 x16c:1,6,2 x32pc:1,6 x32pc:1,2,6 x32pc:1,6 "
                "x32pc:1,2,6 x32pc:1,6 b:1 b:1 b:1 i:-5 i:1500000000 "
                "i:-14 i:15 i:3 i:1400000000 i:0 x16:2,3,2 x16:1,2,2 xu:4");
}

}  // namespace gru_s16_test
}  // namespace deuteron

// SPDX-License-Identifier: Apache-2.0
// gru_s8 and its binding against the reference, bit for bit; and refusals.
#include "kernels/recurrent/gru/kernel.h"

#include "kernels/common/kernels.h"
#include "kernels/common/test_spoiled_calls.h"
#include "kernels/recurrent/gru/test_gru.h"

namespace deuteron {
namespace gru_test {

constexpr GruNumbers kUsual{15, 3, 1400000000, 8};

TEST(GruKernel, EqualsTheReference) {
  uint32_t seed = 1;
  for (const TestLayer& layer : test_layers())
    for (const int32_t bits : {0, 11, 14, 15}) {
      GruNumbers v = kUsual;
      v.state_bits = bits;
      SCOPED_TRACE(testing::Message()
                   << "layer " << &layer - test_layers().data() << " bits " << bits);
      expect_gru_reference<int8_t>(kGru, layer, v, seed++);
    }
}

TEST(GruKernel, StaysDefinedAtTheEndsOfItsNumbers) {
  TestLayer layer = test_layers()[0];
  layer.most_bias = 1 << 30;
  for (const int shift : {1, 20, 45, 60}) {
    layer.shift = shift;
    layer.multiplier = INT32_MAX;
    expect_gru_reference<int8_t>(kGru, layer, {15, -128, INT32_MAX, 20},
                                 static_cast<uint32_t>(shift));
    expect_gru_reference<int8_t>(kGru, layer, {0, 127, -INT32_MAX, -31},
                                 static_cast<uint32_t>(shift));
  }
}

TEST(GruKernel, Refuses) {
  const auto make = [&] {
    Random random(4);
    return gru_call(kGru, test_layers()[0], kUsual, random);
  };
  expect_common_refusals(make, 19);
  expect_refusals(make, {
                            {15, "must be 0..15", number(15, -1)},
                            {16, "must be int8", number(16, -129)},
                            {17, "is out of range", number(17, INT32_MIN)},
                            {18, "must be -31..20", number(18, -32)},
                            {21, "is too small", [](TestCall& c) { c.tensor_at(21).numel -= 1; }},
                        });
}

TEST(GruKernel, StaysInsideItsTensorsWhateverTheArguments) {
  expect_inside(kGru,
                "x8:2,3,4 x8:1,2,2 x8c:1,6,4 x8c:1,6,2 x32pc:1,6 x32pc:1,2,6 x32pc:1,6 x32pc:1,2,6 "
                "x32pc:1,6 b:1 b:1 b:1 i:-5 i:1500000000 i:-22 "
                "i:15 i:3 i:1400000000 i:6 x8:2,3,2 x8:1,2,2 xu:4");
}

}  // namespace gru_test
}  // namespace deuteron

// SPDX-License-Identifier: Apache-2.0
// rnn_s8 and its binding against the reference, bit for bit; and refusals.
#include "kernels/recurrent/rnn/kernel.h"

#include "kernels/common/kernels.h"
#include "kernels/common/test_spoiled_calls.h"
#include "kernels/recurrent/reference.h"
#include "kernels/recurrent/test_layer.h"

namespace deuteron {
namespace rnn_test {

TestCall call_of(const TestLayer& layer, bool relu, Random& random) {
  TestCall call(kRnn);
  layer.begin(call, 1, random);
  call.boolean(relu);
  layer.results(call);
  return call;
}

void expect_reference(const TestLayer& layer, bool relu, uint32_t seed) {
  Random random(seed);
  TestCall call = call_of(layer, relu, random);
  call.run();
  RecurrentArgs a = layer.args(call);
  std::vector<int8_t> y(layer.result_bytes()), h_n(layer.state_bytes());
  a.y = y.data(), a.h_n = h_n.data();
  recurrent_reference(a, layer.units, [&](int64_t j, const GateReference& g, int64_t, int64_t) {
    if (relu) return saturate_reference(a.y_zero + g.both(j), a.y_zero, 127);
    return result_reference(tanh_reference(g.both(j), 7) * 32768, a.y_zero, a.y_multiplier,
                            a.y_shift);
  });
  if (layer.sequence) { EXPECT_EQ(contents<int8_t>(call.tensor_at(16)), y); }
  EXPECT_EQ(contents<int8_t>(call.tensor_at(17)), h_n);
}

TEST(RnnKernel, EqualsTheReference) {
  uint32_t seed = 1;
  for (TestLayer layer : test_layers())
    for (const bool relu : {false, true})
      for (const int32_t zero : {-128, 9}) {
        layer.y_zero = zero;
        layer.shift = relu ? 38 : 31;
        SCOPED_TRACE(testing::Message() << "seed " << seed);
        expect_reference(layer, relu, seed++);
      }
}

TEST(RnnKernel, StaysDefinedAtTheEndsOfItsNumbers) {
  TestLayer layer = test_layers()[0];
  layer.most_bias = 1 << 30;
  layer.multiplier = INT32_MAX;
  for (const int shift : {1, 20, 45, 60})
    for (const bool relu : {false, true}) {
      layer.shift = shift;
      expect_reference(layer, relu, static_cast<uint32_t>(shift));
    }
}

TEST(RnnKernel, Refuses) {
  const auto make = [&] {
    Random random(4);
    return call_of(test_layers()[0], false, random);
  };
  expect_common_refusals(make, 16);
}

TEST(RnnKernel, StaysInsideItsTensorsWhateverTheArguments) {
  expect_inside(kRnn,
                "x8:2,3,4 n x8c:1,2,4 x8c:1,2,2 x32pc:1,2 x32pc:1,1,2 x32pc:1,2 x32pc:1,1,2 "
                "x32pc:1,2 b:0 b:0 b:0 i:-5 i:1500000000 i:-22 b:1 xu:4 "
                "x8:1,3,2");
}

}  // namespace rnn_test
}  // namespace deuteron

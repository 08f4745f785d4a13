// gru_s8 and its binding against the reference, bit for bit; and refusals.
#include "ops/gru/kernel.h"

#include "ops/device/kernels.h"
#include "ops/device/test_spoiled_calls.h"
#include "ops/recurrent/reference.h"
#include "ops/recurrent/test_layer.h"

namespace deuteron {
namespace {

struct Numbers {
  int32_t state_bits, first_zero, first_multiplier, first_shift;
};
constexpr Numbers kUsual{15, 3, 1400000000, 8};

TestCall call_of(const TestLayer& layer, const Numbers& v, Random& random) {
  TestCall call(kGru);
  layer.begin(call, 3, random);
  for (const int32_t n : {v.state_bits, v.first_zero, v.first_multiplier, v.first_shift}) call.integer(n);
  layer.results(call);
  call.tensor(ScalarType::u8, {2 * layer.units});
  return call;
}

void expect_reference(const TestLayer& layer, const Numbers& v, uint32_t seed) {
  Random random(seed);
  TestCall call = call_of(layer, v, random);
  call.run();
  RecurrentArgs a = layer.args(call);
  std::vector<int8_t> y(layer.result_bytes()), h_n(layer.state_bytes());
  a.y = y.data(), a.h_n = h_n.data();
  std::vector<int64_t> states(layer.state_bytes());
  for (size_t k = 0; k < states.size(); ++k)
    states[k] =
        a.h_0 ? saturate_reference(requantize_reference(a.h_0[k] - v.first_zero, v.first_multiplier, v.first_shift), -32768, 32767) : 0;
  const int64_t units = layer.units, most = int64_t{1} << 30;
  recurrent_reference(a, 3 * units, [&](int64_t j, const GateReference& g, int64_t d, int64_t n) {
    int64_t& h = states[(d * layer.batch + n) * units + j];
    const int64_t r = sigmoid_reference(g.both(j)), z = sigmoid_reference(g.both(units + j)), row = 2 * units + j;
    const int64_t in = saturate_reference(round_up_reference(g.input[row], g.shift[row]), -most, most);
    const int64_t st = saturate_reference(round_up_reference(g.state[row], g.shift[row]), -most, most);
    const int64_t fresh = tanh_reference(saturate_reference(in + round_up_reference(static_cast<__int128>(r) * st, 15), -32768, 32767), 7);
    h = saturate_reference(round_up_reference(z * h + floor_reference((32768 - z) * fresh, 15 - v.state_bits), 15), -32768, 32767);
    return result_reference(h * 32768, a.y_zero, a.y_multiplier, a.y_shift);
  });
  if (layer.sequence) { EXPECT_EQ(contents<int8_t>(call.tensor_at(19)), y); }
  EXPECT_EQ(contents<int8_t>(call.tensor_at(20)), h_n);
}

TEST(GruKernel, EqualsTheReference) {
  uint32_t seed = 1;
  for (const TestLayer& layer : test_layers())
    for (const int32_t bits : {0, 11, 14, 15}) {
      Numbers v = kUsual;
      v.state_bits = bits;
      SCOPED_TRACE(testing::Message() << "layer " << &layer - test_layers().data() << " bits " << bits);
      expect_reference(layer, v, seed++);
    }
}

TEST(GruKernel, StaysDefinedAtTheEndsOfItsNumbers) {
  TestLayer layer = test_layers()[0];
  layer.most_bias = 1 << 30;
  for (const int shift : {1, 20, 45, 60}) {
    layer.shift = shift;
    layer.multiplier = INT32_MAX;
    expect_reference(layer, {15, -128, INT32_MAX, 20}, static_cast<uint32_t>(shift));
    expect_reference(layer, {0, 127, -INT32_MAX, -31}, static_cast<uint32_t>(shift));
  }
}

TEST(GruKernel, Refuses) {
  const auto make = [&] {
    Random random(4);
    return call_of(test_layers()[0], kUsual, random);
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
  expect_inside(
      kGru,
      "x8:2,3,4 x8:1,2,2 x8c:1,6,4 x8c:1,6,2 x32pc:1,6 x32pc:1,2,6 x32pc:1,6 x32pc:1,2,6 x32pc:1,6 b:1 b:1 b:1 i:-5 i:1500000000 i:-22 "
      "i:15 i:3 i:1400000000 i:6 x8:2,3,2 x8:1,2,2 xu:4");
}

}  // namespace
}  // namespace deuteron

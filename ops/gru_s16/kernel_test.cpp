// gru_s16 and its binding against the reference, bit for bit; and refusals.
#include "ops/gru_s16/kernel.h"

#include "ops/device/kernels.h"
#include "ops/device/test_spoiled_calls.h"
#include "ops/recurrent/reference.h"
#include "ops/recurrent/test_layer.h"

namespace deuteron {
namespace {

struct Numbers {
  int32_t state_bits, first_zero, first_multiplier, first_shift;
};
constexpr Numbers kUsual{15, 0, 1400000000, 0};

TestLayer wide(TestLayer layer) {
  layer.type = ScalarType::s16, layer.y_zero = 0, layer.y_shift = -14, layer.shift = 33;
  return layer;
}

TestCall call_of(const TestLayer& layer, const Numbers& v, Random& random) {
  TestCall call(kGruS16);
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
  RecurrentS16Args a = layer.args<int16_t>(call);
  std::vector<int16_t> y(layer.result_bytes()), h_n(layer.state_bytes());
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
    return result_reference(h * 32768, a.y_zero, a.y_multiplier, a.y_shift, -32768);
  });
  if (layer.sequence) { EXPECT_EQ(contents<int16_t>(call.tensor_at(19)), y); }
  EXPECT_EQ(contents<int16_t>(call.tensor_at(20)), h_n);
}

TEST(GruS16Kernel, EqualsTheReference) {
  uint32_t seed = 1;
  for (const TestLayer& layer : test_layers())
    for (const int32_t bits : {0, 11, 14, 15}) {
      Numbers v = kUsual;
      v.state_bits = bits;
      SCOPED_TRACE(testing::Message() << "layer " << &layer - test_layers().data() << " bits " << bits);
      expect_reference(wide(layer), v, seed++);
    }
}

TEST(GruS16Kernel, StaysDefinedAtTheEndsOfItsNumbers) {
  TestLayer layer = wide(test_layers()[0]);
  layer.most_bias = 1 << 30;
  for (const int shift : {1, 20, 45, 60}) {
    layer.shift = shift;
    layer.multiplier = 65535;
    expect_reference(layer, {15, -32768, INT32_MAX, 14}, static_cast<uint32_t>(shift));
    expect_reference(layer, {0, 32767, -INT32_MAX, -31}, static_cast<uint32_t>(shift));
  }
}

TEST(GruS16Kernel, Refuses) {
  const auto make = [&] {
    Random random(4);
    return call_of(wide(test_layers()[0]), kUsual, random);
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
  expect_inside(
      kGruS16,
      "x16:2,3,4 x16:1,2,2 x16c:1,6,4 x16c:1,6,2 x32pc:1,6 x32pc:1,2,6 x32pc:1,6 x32pc:1,2,6 x32pc:1,6 b:1 b:1 b:1 i:-5 i:1500000000 "
      "i:-14 i:15 i:3 i:1400000000 i:0 x16:2,3,2 x16:1,2,2 xu:4");
}

}  // namespace
}  // namespace deuteron

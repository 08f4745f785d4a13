// lstm_s16 and its binding against the reference, bit for bit; and refusals.
#include "ops/lstm_s16/kernel.h"

#include "ops/device/kernels.h"
#include "ops/device/test_spoiled_calls.h"
#include "ops/recurrent/reference.h"
#include "ops/recurrent/test_layer.h"

namespace deuteron {
namespace {

struct Numbers {
  int32_t cell_bits, first_zero, first_multiplier, first_shift, last_zero, last_multiplier, last_shift;
};
constexpr Numbers kUsual{12, 0, 1400000000, -2, 0, 1300000000, -13};

TestLayer wide(TestLayer layer) {
  layer.type = ScalarType::s16, layer.y_zero = 0, layer.y_shift = -14, layer.shift = 33;
  return layer;
}

TestCall call_of(const TestLayer& layer, const Numbers& v, Random& random) {
  TestCall call(kLstmS16);
  layer.begin(call, 4, random);
  if (layer.initial) random.fill(call.tensor(ScalarType::s16, {layer.directions, layer.batch, layer.units}));
  else call.none();
  for (const int32_t n : {v.cell_bits, v.first_zero, v.first_multiplier, v.first_shift, v.last_zero, v.last_multiplier, v.last_shift})
    call.integer(n);
  layer.results(call);
  call.tensor(ScalarType::s16, {layer.directions, layer.batch, layer.units});
  call.tensor(ScalarType::u8, {2 * layer.units});
  return call;
}

void expect_reference(const TestLayer& layer, const Numbers& v, uint32_t seed) {
  Random random(seed);
  TestCall call = call_of(layer, v, random);
  call.run();
  RecurrentS16Args a = layer.args<int16_t>(call);
  std::vector<int16_t> y(layer.result_bytes()), h_n(layer.state_bytes()), c_n(layer.state_bytes());
  a.y = y.data(), a.h_n = h_n.data();
  const int16_t* c_0 = layer.initial ? data_of<int16_t>(call.tensor_at(15)) : nullptr;
  std::vector<int64_t> cells(layer.state_bytes());
  for (size_t k = 0; k < cells.size(); ++k)
    cells[k] = c_0 ? saturate_reference(requantize_reference(c_0[k] - v.first_zero, v.first_multiplier, v.first_shift), -32768, 32767) : 0;
  const int64_t units = layer.units;
  recurrent_reference(a, 4 * units, [&](int64_t j, const GateReference& g, int64_t d, int64_t n) {
    int64_t& c = cells[(d * layer.batch + n) * units + j];
    const int64_t i = sigmoid_reference(g.both(j)), f = sigmoid_reference(g.both(units + j)), o = sigmoid_reference(g.both(3 * units + j));
    const __int128 fresh = floor_reference(i * tanh_reference(g.both(2 * units + j), 7), 15 - v.cell_bits);
    c = saturate_reference(round_up_reference(f * c + fresh, 15), -32768, 32767);
    const __int128 q12 = v.cell_bits > 12 ? round_up_reference(c, v.cell_bits - 12) : static_cast<__int128>(c) * (1 << (12 - v.cell_bits));
    return result_reference(o * tanh_reference(saturate_reference(q12, -32768, 32767), 7), a.y_zero, a.y_multiplier, a.y_shift, -32768);
  });
  for (size_t k = 0; k < cells.size(); ++k)
    c_n[k] = static_cast<int16_t>(result_reference(cells[k] * 32768, v.last_zero, v.last_multiplier, v.last_shift, -32768));
  if (layer.sequence) { EXPECT_EQ(contents<int16_t>(call.tensor_at(23)), y); }
  EXPECT_EQ(contents<int16_t>(call.tensor_at(24)), h_n);
  EXPECT_EQ(contents<int16_t>(call.tensor_at(25)), c_n);
}

TEST(LstmS16Kernel, EqualsTheReference) {
  uint32_t seed = 1;
  for (const TestLayer& layer : test_layers())
    for (const int32_t bits : {0, 5, 11, 12, 13, 15}) {
      Numbers v = kUsual;
      v.cell_bits = bits;
      SCOPED_TRACE(testing::Message() << "layer " << &layer - test_layers().data() << " bits " << bits);
      expect_reference(wide(layer), v, seed++);
    }
}

TEST(LstmS16Kernel, StaysDefinedAtTheEndsOfItsNumbers) {
  TestLayer layer = wide(test_layers()[0]);
  layer.most_bias = 1 << 30;
  for (const int shift : {1, 20, 45, 60}) {
    layer.shift = shift;
    layer.multiplier = 65535;
    expect_reference(layer, {15, -32768, INT32_MAX, 14, 32767, INT32_MAX, 0}, static_cast<uint32_t>(shift));
    expect_reference(layer, {0, 32767, -INT32_MAX, -31, -32768, -INT32_MAX, -31}, static_cast<uint32_t>(shift));
  }
}

TEST(LstmS16Kernel, Refuses) {
  const auto make = [&] {
    Random random(4);
    return call_of(wide(test_layers()[0]), kUsual, random);
  };
  expect_refusals(make, {
                            {0, "has the wrong dtype", type(0, ScalarType::s8)},
                            {0, "is not aligned", misaligned(0, 1)},
                            {1, "has the wrong dtype", type(1, ScalarType::s8)},
                            {2, "has the wrong dtype", type(2, ScalarType::s8)},
                            {3, "has the wrong dtype", type(3, ScalarType::s8)},
                            {6, "has a value out of range", entry(6, 0, 65536)},
                            {7, "has a value out of range", entry(7, 0, 65536)},
                            {12, "must be int16", number(12, 32768)},
                            {15, "has the wrong dtype", type(15, ScalarType::s8)},
                            {16, "must be 0..15", number(16, 16)},
                            {17, "must be int16", number(17, 32768)},
                            {20, "must be int16", number(20, -32769)},
                            {23, "has the wrong dtype", type(23, ScalarType::s8)},
                            {26, "is too small", [](TestCall& c) { c.tensor_at(26).numel -= 1; }},
                        });
}

TEST(LstmS16Kernel, StaysInsideItsTensorsWhateverTheArguments) {
  expect_inside(
      kLstmS16,
      "x16:2,3,4 x16:2,3,2 x16c:2,8,4 x16c:2,8,2 x32pc:2,8 x32pc:2,2,8 x32pc:2,8 x32pc:2,2,8 x32pc:2,8 b:0 b:0 b:1 i:-5 i:1500000000 "
      "i:-14 x16:2,3,2 i:12 i:3 i:1400000000 i:-2 i:-7 i:1300000000 i:-13 x16:2,3,4 x16:2,3,2 x16:2,3,2 xu:4");
}

}  // namespace
}  // namespace deuteron

// lstm_s8 and its binding against the reference, bit for bit, and against real numbers; the tables; and refusals.
#include "ops/lstm/kernel.h"

#include "ops/device/kernels.h"
#include "ops/device/test_spoiled_calls.h"
#include "ops/recurrent/reference.h"
#include "ops/recurrent/test_layer.h"

namespace deuteron {
namespace {

struct Numbers {
  int32_t cell_bits, first_zero, first_multiplier, first_shift, last_zero, last_multiplier, last_shift;
};
constexpr Numbers kUsual{12, 3, 1400000000, 6, -7, 1300000000, -21};

TestCall call_of(const TestLayer& layer, const Numbers& v, Random& random) {
  TestCall call(kLstm);
  layer.begin(call, 4, random);
  if (layer.initial) random.fill(call.tensor(ScalarType::s8, {layer.directions, layer.batch, layer.units}));
  else call.none();
  for (const int32_t n : {v.cell_bits, v.first_zero, v.first_multiplier, v.first_shift, v.last_zero, v.last_multiplier, v.last_shift})
    call.integer(n);
  layer.results(call);
  call.tensor(ScalarType::s8, {layer.directions, layer.batch, layer.units});
  call.tensor(ScalarType::u8, {2 * layer.units});
  return call;
}

void expect_reference(const TestLayer& layer, const Numbers& v, uint32_t seed) {
  Random random(seed);
  TestCall call = call_of(layer, v, random);
  call.run();
  RecurrentArgs a = layer.args(call);
  std::vector<int8_t> y(layer.result_bytes()), h_n(layer.state_bytes()), c_n(layer.state_bytes());
  a.y = y.data(), a.h_n = h_n.data();
  const int8_t* c_0 = layer.initial ? data_of<int8_t>(call.tensor_at(15)) : nullptr;
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
    return result_reference(o * tanh_reference(saturate_reference(q12, -32768, 32767), 7), a.y_zero, a.y_multiplier, a.y_shift);
  });
  for (size_t k = 0; k < cells.size(); ++k)
    c_n[k] = static_cast<int8_t>(result_reference(cells[k] * 32768, v.last_zero, v.last_multiplier, v.last_shift));
  if (layer.sequence) { EXPECT_EQ(contents<int8_t>(call.tensor_at(23)), y); }
  EXPECT_EQ(contents<int8_t>(call.tensor_at(24)), h_n);
  EXPECT_EQ(contents<int8_t>(call.tensor_at(25)), c_n);
}

TEST(LstmKernel, EqualsTheReference) {
  uint32_t seed = 1;
  for (const TestLayer& layer : test_layers())
    for (const int32_t bits : {0, 5, 11, 12, 13, 15}) {
      Numbers v = kUsual;
      v.cell_bits = bits;
      SCOPED_TRACE(testing::Message() << "layer " << &layer - test_layers().data() << " bits " << bits);
      expect_reference(layer, v, seed++);
    }
}

TEST(LstmKernel, StaysDefinedAtTheEndsOfItsNumbers) {
  TestLayer layer = test_layers()[0];
  layer.most_bias = 1 << 30;
  for (const int shift : {1, 20, 45, 60}) {
    layer.shift = shift;
    layer.multiplier = INT32_MAX;
    expect_reference(layer, {15, -128, INT32_MAX, 20, 127, INT32_MAX, 0}, static_cast<uint32_t>(shift));
    expect_reference(layer, {0, 127, -INT32_MAX, -31, -128, -INT32_MAX, -31}, static_cast<uint32_t>(shift));
  }
}

TEST(LstmKernel, TheTableIsTanh) {
  for (int k = 0; k <= 256; ++k) EXPECT_EQ(kTanhTable[k], tanh_point_reference(k)) << k;
  double worst_tanh = 0, worst_sigmoid = 0;
  for (int v = -32768; v <= 32767; ++v) {
    worst_tanh = std::max(worst_tanh, std::fabs(tanh_q15(v) / 32768.0 - std::tanh(v / 4096.0)));
    worst_sigmoid = std::max(worst_sigmoid, std::fabs(sigmoid_q15(v) / 32768.0 - 1 / (1 + std::exp(-v / 4096.0))));
    ASSERT_EQ(tanh_q15(v), tanh_reference(v, 7));
    ASSERT_EQ(sigmoid_q15(v), sigmoid_reference(v));
  }
  // Linear interpolation over 1/32: at most 1/32^2 / 8 * max |tanh''| = 9.4e-5, and a step of 2^-15 for rounding.
  EXPECT_LT(worst_tanh, 9.4e-5 + 0x1p-15);
  EXPECT_LT(worst_sigmoid, 4.7e-5 + 0x1p-15);
}

TEST(LstmKernel, Refuses) {
  const auto make = [&] {
    Random random(4);
    return call_of(test_layers()[0], kUsual, random);
  };
  expect_common_refusals(make, 23);
  expect_refusals(make, {
                            {15, "must have a state for each direction and batch entry", [](TestCall& c) { c.sizes_at(15)[2] += 1; }},
                            {15, "must be given when the hidden state is", absent(15)},
                            {16, "must be 0..15", number(16, 16)},
                            {17, "must be int8", number(17, 128)},
                            {18, "is out of range", number(18, INT32_MIN)},
                            {19, "must be -31..20", number(19, 21)},
                            {20, "must be int8", number(20, -129)},
                            {21, "is out of range", number(21, int64_t{1} << 31)},
                            {22, "must be -31..0", number(22, 1)},
                            {25, "must have a state for each direction and batch entry", [](TestCall& c) { c.sizes_at(25)[1] += 1; }},
                            {26, "is too small", [](TestCall& c) { c.tensor_at(26).numel -= 1; }},
                            {26, "is not aligned", misaligned(26, 1)},
                        });
}

TEST(LstmKernel, StaysInsideItsTensorsWhateverTheArguments) {
  expect_inside(
      kLstm,
      "x8:2,3,4 x8:2,3,2 x8c:2,8,4 x8c:2,8,2 x32pc:2,8 x32pc:2,2,8 x32pc:2,8 x32pc:2,2,8 x32pc:2,8 b:0 b:0 b:1 i:-5 i:1500000000 i:-22 "
      "x8:2,3,2 i:12 i:3 i:1400000000 i:6 i:-7 i:1300000000 i:-21 x8:2,3,4 x8:2,3,2 x8:2,3,2 xu:4");
}

}  // namespace
}  // namespace deuteron

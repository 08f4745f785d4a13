// SPDX-License-Identifier: Apache-2.0
// sequence_lstm_s8 and its binding against the reference, bit for bit; its functions against real
// numbers; and refusals.
#include "kernels/recurrent/sequence_lstm/kernel.h"

#include <cmath>

#include "kernels/common/kernel_test.h"
#include "kernels/common/kernels.h"
#include "kernels/common/test_spoiled_calls.h"
#include "kernels/integer/logistic_s16.h"
#include "kernels/recurrent/sequence_lstm/reference.h"

namespace deuteron {
namespace sequence_lstm_test {

struct Case {
  const char* name;
  int32_t steps, batch, inputs, units;
  bool batch_first;
  int32_t most_bias, shift, cell_bits, cell_clip, y_zero;
};

TestCall call_of(const Case& k, uint32_t seed) {
  Random random(seed);
  TestCall call(kSequenceLstm);
  const std::vector<int32_t> rows =
      k.batch_first ? std::vector{k.batch, k.steps} : std::vector{k.steps, k.batch};
  random.fill(call.tensor(ScalarType::s8, {rows[0], rows[1], k.inputs}));
  random.fill(call.tensor(ScalarType::s8, {k.batch, k.units}));
  const Tensor& cell = call.tensor(ScalarType::s16, {k.batch, k.units});
  for (int32_t i = 0; i < cell.numel; ++i)
    static_cast<int16_t*>(cell.data)[i] = static_cast<int16_t>(random.list(1, -32768, 32767)[0]);
  random.fill(call.tensor(ScalarType::s8, {4 * k.units, k.inputs}));
  random.fill(call.tensor(ScalarType::s8, {4 * k.units, k.units}));
  for (int i = 0; i < 2; ++i) {
    const Tensor& bias = call.tensor(ScalarType::s32, {4 * k.units});
    int32_t* to = static_cast<int32_t*>(bias.data);
    for (const int32_t v : random.list(bias.numel, -k.most_bias, k.most_bias)) *to++ = v;
  }
  std::vector<int64_t> multipliers, shifts;
  for (const int32_t v : random.list(8, 1 << 30, INT32_MAX)) multipliers.push_back(v);
  for (const int32_t v : random.list(8, k.shift - 1, k.shift)) shifts.push_back(v);
  call.integers(multipliers);
  call.integers(shifts);
  call.boolean(k.batch_first);
  for (const int32_t v : {k.cell_bits, k.cell_clip, k.y_zero, 1900000000, -23}) call.integer(v);
  call.tensor(ScalarType::s8, {rows[0], rows[1], k.units});
  call.tensor(ScalarType::s8, {k.batch, k.units});
  call.tensor(ScalarType::s16, {k.batch, k.units});
  return call;
}

SequenceLstmArgs args_of(const Case& k, TestCall& call) {
  SequenceLstmArgs a{k.steps, k.batch,     k.inputs,    k.units,  k.batch_first, {},
                     {},      k.cell_bits, k.cell_clip, k.y_zero, 1900000000,    -23,
                     nullptr, nullptr,     nullptr,     nullptr,  nullptr,       nullptr,
                     nullptr, nullptr,     nullptr,     nullptr};
  for (int32_t i = 0; i < 8; ++i) {
    a.multiplier[i] = static_cast<int32_t>(call.argument(7).list.integer(i));
    a.shift[i] = static_cast<int32_t>(call.argument(8).list.integer(i));
  }
  a.x = data_of<int8_t>(call.tensor_at(0)), a.h_0 = data_of<int8_t>(call.tensor_at(1)),
  a.c_0 = data_of<int16_t>(call.tensor_at(2));
  a.weight = data_of<int8_t>(call.tensor_at(3)), a.recurrent = data_of<int8_t>(call.tensor_at(4));
  a.bias = data_of<int32_t>(call.tensor_at(5)),
  a.recurrent_bias = data_of<int32_t>(call.tensor_at(6));
  return a;
}

const Case kCases[] = {
    {"one of everything", 1, 1, 1, 1, true, 1000, 1, 11, 0, 0},
    {"a sequence", 5, 1, 7, 9, true, 60000, -3, 11, 0, -5},
    {"time first, two of a batch", 4, 2, 18, 8, false, 60000, -4, 12, 0, 90},
    {"batch first, three of a batch", 3, 3, 5, 17, true, 9000, -2, 10, 0, -128},
    {"the most bits before the point", 3, 1, 33, 16, true, 60000, -4, 9, 0, 1},
    {"none before the point", 6, 1, 4, 5, true, 60000, -1, 15, 0, 127},
    {"clipped cells", 6, 2, 6, 11, false, 90000, -2, 11, 900, 3},
    {"sums that wrap", 2, 1, 3, 4, true, INT32_MAX, 0, 13, 0, 7},
    {"gates all over their range", 400, 1, 5, 19, true, 30000, 1, 11, 0, -4},
    {"cells all over their range", 300, 2, 3, 9, false, 30000, 0, 9, 30000, 60},
    {"gates beyond int32 / 2", 2, 1, 3, 4, true, INT32_MAX, 12, 14, 1, 7},
};

TEST(SequenceLstmKernel, EqualsTheReference) {
  KernelCases cases;
  uint32_t seed = 1;
  for (const Case& k : kCases) {
    TestCall call = call_of(k, seed++);
    std::vector<int8_t> y(static_cast<size_t>(call.tensor_at(15).numel)),
        h_n(static_cast<size_t>(call.tensor_at(16).numel));
    std::vector<int16_t> c_n(h_n.size());
    const auto logistic = [](int64_t v) {
      return int64_t{gemmlowp_logistic_q15(static_cast<int32_t>(v))};
    };
    const auto tanh = [](int64_t v, int bits) {
      return int64_t{gemmlowp_tanh_q15(static_cast<int32_t>(v), bits)};
    };
    sequence_lstm_reference(args_of(k, call), logistic, tanh, y, h_n, c_n);
    cases.run(k.name, call);
    cases.expect(15, y);
    cases.expect(16, h_n);
    cases.expect(17, c_n);
  }
}

// The interpreter compares their bits in tests/stock/tflite_state.py. Constants of 16 bits, and
// products that round each time, make these errors.
TEST(SequenceLstmKernel, ItsFunctionsAreCloseToRealOnes) {
  for (int bits = 0; bits <= 6; ++bits)
    for (int v = -32768; v <= 32767; ++v) {
      const int32_t t = gemmlowp_tanh_q15(v, bits);
      ASSERT_NEAR(t, 32768 * std::tanh(std::ldexp(v, bits - 15)), 12.05)
          << v << " with " << bits << " bits before the point";
      if (v > -32768) { ASSERT_EQ(gemmlowp_tanh_q15(-v, bits), -t); }
    }
  for (int v = -32768; v <= 32767; ++v)
    ASSERT_NEAR(gemmlowp_logistic_q15(v), 32768 / (1 + std::exp(-v / 4096.0)), 6.4) << v;
}

TEST(SequenceLstmKernel, Refuses) {
  const auto make = [] { return call_of(kCases[2], 9); };
  const auto list = [](int i, std::vector<int64_t> values) {
    return [=](TestCall& c) {
      static std::vector<int64_t> kept;
      kept = values;
      c.argument(i).list = {nullptr, kept.data(), static_cast<int32_t>(kept.size())};
    };
  };
  expect_refusals(
      make, {
                {0, "has the wrong dtype", type(0, ScalarType::u8)},
                {0, "has the wrong rank", rank(0, 2)},
                {1, "must have a state of each unit for each batch entry", size(1, 1, 9)},
                {2, "has the wrong dtype", type(2, ScalarType::s8)},
                {2, "must have a state of each unit for each batch entry", size(2, 0, 1)},
                {3, "must have a row for each gate and a column for each input", size(3, 1, 17)},
                {4, "must have a row for each gate and a column for each unit", size(4, 0, 31)},
                {5, "must be int32", type(5, ScalarType::s8)},
                {6, "must have one entry for each output channel", elements(6, 31)},
                {7, "must have two numbers for each gate", list(7, {1, 2, 3})},
                {7, "is out of range", list(7, {1, 1, 1, 1, 1, 1, 1, INT32_MIN})},
                {8, "must have two numbers for each gate", list(8, {1, 1, 1, 1, 1, 1, 1, 1, 1})},
                {8, "must be -31..30", list(8, {31, 1, 1, 1, 1, 1, 1, 1})},
                {10, "must be 9..15", number(10, 8)},
                {10, "must be 9..15", number(10, 16)},
                {11, "must be 0..32767", number(11, -1)},
                {12, "must be int8", number(12, 128)},
                {13, "is out of range", number(13, INT32_MIN)},
                {14, "must be -31..30", number(14, -32)},
                {15, "must have a row for each row of the input", size(15, 0, 3)},
                {16, "must have a state of each unit for each batch entry", size(16, 0, 1)},
                {17, "must have a state of each unit for each batch entry", size(17, 1, 7)},
            });
}

TEST(SequenceLstmKernel, StaysInsideItsTensorsWhateverTheArguments) {
  expect_inside(kSequenceLstm,
                "x8:2,3,4 x8:2,3 x16:2,3 x8:12,4 x8:12,3 x32:12 x32:12 "
                "l:1500000000,1500000000,1500000000,1500000000,1500000000,1500000000,"
                "1500000000,1500000000 l:-3,-3,-3,-3,-3,-3,-3,-3 b:1 i:11 i:0 i:4 i:1500000000 "
                "i:-22 x8:2,3,3 x8:2,3 x16:2,3");
}

}  // namespace sequence_lstm_test
}  // namespace deuteron

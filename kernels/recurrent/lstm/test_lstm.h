// SPDX-License-Identifier: Apache-2.0
// What the tests of an LSTM on int8 and on int16 have in common: its call, and its reference.
#pragma once
#include <limits>
#include <vector>

#include "kernels/recurrent/reference.h"
#include "kernels/recurrent/test_layer.h"

namespace deuteron {

struct LstmNumbers {
  int32_t cell_bits, first_zero, first_multiplier, first_shift, last_zero, last_multiplier,
      last_shift;
};

inline TestCall lstm_call(const Kernel& kernel, const TestLayer& layer, const LstmNumbers& v,
                          Random& random) {
  TestCall call(kernel);
  layer.begin(call, 4, random);
  if (layer.initial)
    random.fill(call.tensor(layer.type, {layer.directions, layer.batch, layer.units}));
  else call.none();
  for (const int32_t n : {v.cell_bits, v.first_zero, v.first_multiplier, v.first_shift, v.last_zero,
                          v.last_multiplier, v.last_shift})
    call.integer(n);
  layer.results(call);
  call.tensor(layer.type, {layer.directions, layer.batch, layer.units});
  call.tensor(ScalarType::u8, {2 * layer.units});
  return call;
}

// Runs a layer of random numbers.
template <class Step>
void expect_lstm_reference(const Kernel& kernel, const TestLayer& layer, const LstmNumbers& v,
                           uint32_t seed) {
  constexpr int64_t kLow = std::numeric_limits<Step>::min();
  Random random(seed);
  TestCall call = lstm_call(kernel, layer, v, random);
  call.run();
  RecurrentArgsOf<Step> a = layer.args<Step>(call);
  std::vector<Step> y(layer.result_bytes()), h_n(layer.state_bytes()), c_n(layer.state_bytes());
  a.y = y.data(), a.h_n = h_n.data();
  const Step* c_0 = layer.initial ? data_of<Step>(call.tensor_at(15)) : nullptr;
  std::vector<int64_t> cells(layer.state_bytes());
  for (size_t k = 0; k < cells.size(); ++k)
    cells[k] = c_0 ? saturate_reference(requantize_reference(c_0[k] - v.first_zero,
                                                             v.first_multiplier, v.first_shift),
                                        -32768, 32767)
                   : 0;
  const int64_t units = layer.units;
  recurrent_reference(a, 4 * units, [&](int64_t j, const GateReference& g, int64_t d, int64_t n) {
    int64_t& c = cells[(d * layer.batch + n) * units + j];
    const int64_t i = sigmoid_reference(g.both(j)), f = sigmoid_reference(g.both(units + j)),
                  o = sigmoid_reference(g.both(3 * units + j));
    const __int128 fresh =
        floor_reference(i * tanh_reference(g.both(2 * units + j), 7), 15 - v.cell_bits);
    c = saturate_reference(round_up_reference(f * c + fresh, 15), -32768, 32767);
    const __int128 q12 = v.cell_bits > 12 ? round_up_reference(c, v.cell_bits - 12)
                                          : static_cast<__int128>(c) * (1 << (12 - v.cell_bits));
    return result_reference(o * tanh_reference(saturate_reference(q12, -32768, 32767), 7), a.y_zero,
                            a.y_multiplier, a.y_shift, kLow);
  });
  for (size_t k = 0; k < cells.size(); ++k)
    c_n[k] = static_cast<Step>(
        result_reference(cells[k] * 32768, v.last_zero, v.last_multiplier, v.last_shift, kLow));
  if (layer.sequence) { EXPECT_EQ(contents<Step>(call.tensor_at(23)), y); }
  EXPECT_EQ(contents<Step>(call.tensor_at(24)), h_n);
  EXPECT_EQ(contents<Step>(call.tensor_at(25)), c_n);
}

}  // namespace deuteron

// SPDX-License-Identifier: Apache-2.0
// What the tests of a GRU on int8 and on int16 have in common: its call, and its reference.
#pragma once
#include <limits>
#include <vector>

#include "kernels/recurrent/reference.h"
#include "kernels/recurrent/test_layer.h"

namespace deuteron {

struct GruNumbers {
  int32_t state_bits, first_zero, first_multiplier, first_shift;
};

inline TestCall gru_call(const Kernel& kernel, const TestLayer& layer, const GruNumbers& v,
                         Random& random) {
  TestCall call(kernel);
  layer.begin(call, 3, random);
  for (const int32_t n : {v.state_bits, v.first_zero, v.first_multiplier, v.first_shift})
    call.integer(n);
  layer.results(call);
  call.tensor(ScalarType::u8, {2 * layer.units});
  return call;
}

// Runs a layer of random numbers.
template <class Step>
void expect_gru_reference(const Kernel& kernel, const TestLayer& layer, const GruNumbers& v,
                          uint32_t seed) {
  constexpr int64_t kLow = std::numeric_limits<Step>::min();
  Random random(seed);
  TestCall call = gru_call(kernel, layer, v, random);
  call.run();
  RecurrentArgsOf<Step> a = layer.args<Step>(call);
  std::vector<Step> y(layer.result_bytes()), h_n(layer.state_bytes());
  a.y = y.data(), a.h_n = h_n.data();
  std::vector<int64_t> states(layer.state_bytes());
  for (size_t k = 0; k < states.size(); ++k)
    states[k] = a.h_0 ? saturate_reference(requantize_reference(a.h_0[k] - v.first_zero,
                                                                v.first_multiplier, v.first_shift),
                                           -32768, 32767)
                      : 0;
  const int64_t units = layer.units, most = int64_t{1} << 30;
  recurrent_reference(a, 3 * units, [&](int64_t j, const GateReference& g, int64_t d, int64_t n) {
    int64_t& h = states[(d * layer.batch + n) * units + j];
    const int64_t r = sigmoid_reference(g.both(j)), z = sigmoid_reference(g.both(units + j)),
                  row = 2 * units + j;
    const int64_t in =
        saturate_reference(round_up_reference(g.input[row], g.shift[row]), -most, most);
    const int64_t st =
        saturate_reference(round_up_reference(g.state[row], g.shift[row]), -most, most);
    const int64_t fresh = tanh_reference(
        saturate_reference(in + round_up_reference(static_cast<__int128>(r) * st, 15), -32768,
                           32767),
        7);
    h = saturate_reference(
        round_up_reference(z * h + floor_reference((32768 - z) * fresh, 15 - v.state_bits), 15),
        -32768, 32767);
    return result_reference(h * 32768, a.y_zero, a.y_multiplier, a.y_shift, kLow);
  });
  if (layer.sequence) { EXPECT_EQ(contents<Step>(call.tensor_at(19)), y); }
  EXPECT_EQ(contents<Step>(call.tensor_at(20)), h_n);
}

}  // namespace deuteron

// SPDX-License-Identifier: Apache-2.0
// Cases of LSTM, GRU, plain RNN and TFLite's LSTM.
#include "kernels/recurrent/gru/kernel.h"
#include "kernels/recurrent/lstm/kernel.h"
#include "kernels/recurrent/rnn/kernel.h"
#include "kernels/recurrent/sequence_lstm/kernel.h"
#include "runtime/instruction_set.h"
#include "tests/board_kernels/case.h"

namespace deuteron {
namespace {

constexpr int32_t kMostUnits = 37, kMostInputs = 70,
                  kMostRows = 2 * 4 * kMostUnits;  // of two directions
int8_t recurrent[kMostRows * kMostUnits], first_state[2 * 2 * kMostUnits],
    first_cell[2 * 2 * kMostUnits];
int32_t bias[kMostRows], state_bias[2 * kMostRows], multiplier[kMostRows],
    state_multiplier[2 * kMostRows], shift[kMostRows];

int32_t a_multiplier(Random& r) { return static_cast<int32_t>(r.next() >> 1); }

// Where a kernel writes: the results one after the other, and the states of 16 bits. A board
// without such kernels has no use for it.
struct Results {
  Guarded bytes, states;
};
[[maybe_unused]] void set_results(RecurrentArgs& a, const Results& results) {
  a.y = results.bytes.data;
  a.h_n = a.y + (a.sequence ? a.steps * a.batch * a.directions : 2) * a.units;
}
int8_t* behind(const RecurrentArgs& a) { return a.h_n + a.directions * a.batch * a.units; }

RecurrentArgs some_layer(Random& r, int32_t gates, Line& line) {
  RecurrentArgs a{};
  a.steps = r.between(1, 5), a.batch = r.between(1, 2), a.directions = r.between(1, 2);
  a.units = r.between(1, r.one_in(2) ? 5 : kMostUnits),
  a.inputs = r.between(1, r.one_in(2) ? 18 : kMostInputs);
  a.batch_first = r.one_in(2), a.reverse = r.one_in(2), a.sequence = r.one_in(2);
  a.y_zero = a_zero(r), a.y_multiplier = a_multiplier(r), a.y_shift = -r.between(15, 31);
  const int32_t rows = a.directions * gates * a.units, low = r.between(20, 40);
  for (int32_t i = 0; i < rows; ++i) {
    bias[i] = static_cast<int32_t>(r.next()) >> 12, multiplier[i] = a_multiplier(r),
    shift[i] = low + r.between(0, 4);
    for (int32_t k = 0; k < 2; ++k)
      state_bias[i + k * rows] = static_cast<int32_t>(r.next()) >> 12,
                         state_multiplier[i + k * rows] = a_multiplier(r);
  }
  a.bias = bias, a.recurrent_bias = state_bias, a.multiplier = multiplier,
  a.recurrent_multiplier = state_multiplier, a.shift = shift;
  const int32_t xs = a.steps * a.batch * a.inputs, weights = rows * a.inputs,
                states = a.directions * a.batch * a.units;
  const bool swap = r.one_in(2);
  int8_t* const x = (swap ? at_end_of_ram : at_end_of_pool)(static_cast<uint32_t>(xs));
  int8_t* const weight = (swap ? at_end_of_pool : at_end_of_ram)(static_cast<uint32_t>(weights));
  fill_bytes(r, x, xs);
  fill_bytes(r, weight, weights);
  fill_bytes(r, recurrent, rows * a.units);
  fill_bytes(r, first_state, states);
  fill_bytes(r, first_cell, states);
  a.x = x, a.weight = weight, a.recurrent = recurrent, a.h_0 = r.one_in(2) ? first_state : nullptr;
  line.text(" steps ")
      .signed_number(a.steps)
      .text(" batch ")
      .signed_number(a.batch)
      .text(" directions ")
      .signed_number(a.directions);
  line.text(" inputs ")
      .signed_number(a.inputs)
      .text(" units ")
      .signed_number(a.units)
      .text(a.h_0 ? " begun" : " new");
  return a;
}

[[maybe_unused]] Results some_results(const RecurrentArgs& a, int which) {
  const int32_t results = (a.steps + 2) * a.batch * a.directions * a.units + 2 * a.units;
  return {guarded(which, static_cast<uint32_t>(results)),
          guarded(2 + which, static_cast<uint32_t>(2 * a.units))};
}

// Runs the portable kernel and that of the board's instruction set. `place` tells each where its
// own results go.
template <class Args, class Place>
Outcome run_both(Args& a, const Place& place, void (*portable)(const Args&),
                 void (*own)(const Args&), Line& line) {
  const Results expected = some_results(a.layer, 0), found = some_results(a.layer, 1);
  set_results(a.layer, expected), place(expected);
  portable(a);
  set_results(a.layer, found), place(found);
  own(a);
  return compared(expected.bytes, found.bytes, expected.bytes.bytes, &found.states, line);
}

}  // namespace

Outcome check_lstm(uint32_t seed) {
  Random r(seed);
  Line line("@differs lstm ");
  line.number(seed);
  LstmArgs a{};
  a.layer = some_layer(r, 4, line);
  a.cell_bits = r.between(0, 15);
  a.first_zero = a_zero(r), a.first_multiplier = a_multiplier(r),
  a.first_shift = r.between(-10, 12);
  a.last_zero = a_zero(r), a.last_multiplier = a_multiplier(r), a.last_shift = -r.between(15, 31);
  a.c_0 = a.layer.h_0 ? first_cell : nullptr;
  const auto place = [&](const Results& to) {
    a.c_n = behind(a.layer), a.cells = reinterpret_cast<int16_t*>(to.states.data);
  };
  if constexpr (kHasMve) return run_both<LstmArgs>(a, place, lstm_s8, lstm_s8_mve, line);
  if constexpr (kHasDsp) return run_both<LstmArgs>(a, place, lstm_s8, lstm_s8_dsp, line);
  if constexpr (kHasScalar) return run_both<LstmArgs>(a, place, lstm_s8, lstm_s8_scalar, line);
  return Outcome::not_served;
}

Outcome check_gru(uint32_t seed) {
  Random r(seed);
  Line line("@differs gru ");
  line.number(seed);
  GruArgs a{};
  a.layer = some_layer(r, 3, line);
  a.state_bits = r.between(0, 15);
  a.first_zero = a_zero(r), a.first_multiplier = a_multiplier(r),
  a.first_shift = r.between(-10, 12);
  const auto place = [&](const Results& to) {
    a.states = reinterpret_cast<int16_t*>(to.states.data);
  };
  if constexpr (kHasMve) return run_both<GruArgs>(a, place, gru_s8, gru_s8_mve, line);
  if constexpr (kHasDsp) return run_both<GruArgs>(a, place, gru_s8, gru_s8_dsp, line);
  if constexpr (kHasScalar) return run_both<GruArgs>(a, place, gru_s8, gru_s8_scalar, line);
  return Outcome::not_served;
}

Outcome check_rnn(uint32_t seed) {
  Random r(seed);
  Line line("@differs rnn ");
  line.number(seed);
  RnnArgs a{};
  a.layer = some_layer(r, 1, line);
  a.relu = r.one_in(2);
  const auto place = [](const Results&) {};
  if constexpr (kHasMve) return run_both<RnnArgs>(a, place, rnn_s8, rnn_s8_mve, line);
  if constexpr (kHasDsp) return run_both<RnnArgs>(a, place, rnn_s8, rnn_s8_dsp, line);
  return Outcome::not_served;
}

Outcome check_sequence_lstm(uint32_t seed) {
  Random r(seed);
  Line line("@differs sequence_lstm ");
  line.number(seed);
  SequenceLstmArgs a{};
  a.steps = r.between(1, 5), a.batch = r.between(1, 2), a.batch_first = r.one_in(2);
  a.units = r.between(1, r.one_in(2) ? 9 : kMostUnits),
  a.inputs = r.between(1, r.one_in(2) ? 18 : kMostInputs);
  a.cell_bits = r.between(9, 15), a.cell_clip = r.one_in(2) ? r.between(1, 32767) : 0;
  a.y_zero = a_zero(r), a.y_multiplier = a_multiplier(r),
  a.y_shift = r.between(-31, r.one_in(9) ? 2 : -18);
  const int32_t rows = kLstmGates * a.units, states = a.batch * a.units,
                xs = a.steps * a.batch * a.inputs, most = r.between(-9, 1);
  for (int32_t i = 0; i < 2 * kLstmGates; ++i)
    a.multiplier[i] = a_multiplier(r), a.shift[i] = most - r.between(0, 3);
  for (int32_t i = 0; i < rows; ++i)
    bias[i] = static_cast<int32_t>(r.next()) >> 14,
    state_bias[i] = static_cast<int32_t>(r.next()) >> 14;
  int8_t* const x = at_end_of_pool(static_cast<uint32_t>(xs));
  int8_t* const weight = at_end_of_ram(static_cast<uint32_t>(rows * a.inputs));
  static int16_t cells[2 * kMostUnits];
  fill_bytes(r, x, xs);
  fill_bytes(r, weight, rows * a.inputs);
  fill_bytes(r, recurrent, rows * a.units);
  fill_bytes(r, first_state, states);
  for (int32_t i = 0; i < states; ++i) cells[i] = static_cast<int16_t>(r.next());
  a.x = x, a.weight = weight, a.recurrent = recurrent, a.bias = bias, a.recurrent_bias = state_bias,
  a.h_0 = first_state, a.c_0 = cells;
  line.text(" steps ")
      .signed_number(a.steps)
      .text(" batch ")
      .signed_number(a.batch)
      .text(" inputs ")
      .signed_number(a.inputs);
  line.text(" units ").signed_number(a.units).text(" bits ").signed_number(a.cell_bits);
  const int32_t of_bytes = (a.steps + 1) * states, cells_at = of_bytes + of_bytes % 2;
  const auto bytes = static_cast<uint32_t>(cells_at + 2 * states);
  const auto result_of = [&](int which, void (*kernel)(const SequenceLstmArgs&)) {
    const Guarded to = guarded(which, bytes);
    a.y = to.data, a.h_n = to.data + a.steps * states,
    a.c_n = reinterpret_cast<int16_t*>(to.data + cells_at);
    kernel(a);
    return to;
  };
  if constexpr (!kHasMve && !kHasDsp && !kHasScalar) return Outcome::not_served;
  const Guarded expected = result_of(0, sequence_lstm_s8);
  if constexpr (kHasMve)
    return compared(expected, result_of(1, sequence_lstm_s8_mve), bytes, nullptr, line);
  else if constexpr (kHasDsp)
    return compared(expected, result_of(1, sequence_lstm_s8_dsp), bytes, nullptr, line);
  else if constexpr (kHasScalar)
    return compared(expected, result_of(1, sequence_lstm_s8_scalar), bytes, nullptr, line);
}

}  // namespace deuteron

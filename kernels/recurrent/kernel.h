// SPDX-License-Identifier: Apache-2.0
// The parts of which lstm_s8, gru_s8 and rnn_s8 are made, and lstm_s16 and gru_s16, whose x, states
// and weights are int16 ("Step" below) and whose sums are int64. One step of one direction and
// batch entry, for gate row r:
//   input_sum = bias[r] + sum over i of weight[r,i] * x[i]                      x_zero is folded
//   into bias state_sum = recurrent_bias[k,r] + sum over j of recurrent[r,j] * h[j]       k = 1 in
//   the first step when h_0 is given, else 0 gate      = round(input_sum * multiplier[r] +
//   state_sum * recurrent_multiplier[k,r]) / 2^shift[r]), halves up, in 64 bits
// Gates are Q3.12 and saturate at 16 bits; sigmoid and tanh give Q0.15, 0..32768, by one table of
// tanh with linear interpolation. The hidden state is the int8 of the result: a step reads the row
// of y that the step before has written. Without h_0 the first step reads y_zero, which is a real
// 0. Shapes   x [t,n,inputs]   y [t,n,directions*units] (batch_first: n before t)   h_0, h_n
// [directions,n,units]   weight
//          [directions,rows,inputs]   recurrent [directions,rows,units]   bias, multiplier, shift
//          [directions,rows] recurrent_bias, recurrent_multiplier [directions,1 or 2,rows]   rows =
//          gates * units without `sequence` y has room for two rows of one direction, and holds
//          nothing afterwards
// Limits   inputs, units <= 32768 and |bias| <= 2^30, so that sums stay within 3 * 2^29 and two
// products within 63 bits; multiplier >= 0;
//          shift 1..60. int16: sums stay within 2^45 + 2^30, so that multipliers are at most 65535
// Errors   none   Aliasing  nothing overlaps
#pragma once
#include <cstdint>

#include <type_traits>

#include "kernels/dense/dot_s8.h"
#include "kernels/integer/requantize.h"

namespace deuteron {

extern const uint16_t kTanhTable[257];  // round(32768 * tanh(i / 32))

template <class Step>
struct RecurrentArgsOf {
  int32_t steps, batch, inputs, units, directions;
  bool batch_first, reverse, sequence;
  int32_t y_zero, y_multiplier, y_shift;
  const Step *weight, *recurrent;
  const int32_t *bias, *recurrent_bias, *multiplier, *recurrent_multiplier, *shift;
  const Step *x, *h_0;  // h_0 may be null
  Step *y, *h_n;
};
using RecurrentArgs = RecurrentArgsOf<int8_t>;
using RecurrentS16Args = RecurrentArgsOf<int16_t>;

// Of an initial state: a distance of two steps that is shifted by so much stays within int32.
template <class Step>
inline constexpr int32_t kMostFirstShift = sizeof(Step) == 1 ? 20 : 14;

// Q3.12 to Q0.15, -32768..32768.
inline int32_t tanh_q15(int32_t v) {
  const int32_t u = v < 0 ? (v == -32768 ? 32767 : -v) : v;
  const int32_t low = kTanhTable[u >> 7],
                t = low + (((kTanhTable[(u >> 7) + 1] - low) * (u & 127) + 64) >> 7);
  return v < 0 ? -t : t;
}
// (1 + tanh(v / 2)) / 2, Q3.12 to Q0.15, 0..32768.
inline int32_t sigmoid_q15(int32_t v) {
  const int32_t u = v < 0 ? -v : v;
  const int32_t low = kTanhTable[u >> 8],
                t = low + (((kTanhTable[(u >> 8) + 1] - low) * (u & 255) + 128) >> 8);
  return (32768 + (v < 0 ? -t : t) + 1) >> 1;
}

// Sums of products of the rows first, first + step, .. with v: the inner loop, which an instruction
// set has its own of.
struct PortableRows {
  template <int32_t rows, class Step, class Sum>
  static void sum(const Step* first, int32_t step, const Step* v, int32_t count,
                  Sum (&sums)[rows]) {
    for (int32_t r = 0; r < rows; ++r, first += step) {
      Sum s = 0;
      for (int32_t i = 0; i < count; ++i) s += first[i] * v[i];
      sums[r] = s;
    }
  }
};

// clamp(zero + requantize(v)) to what the element holds; v in two's complement.
inline void put_step(int8_t* to, uint32_t v, int32_t multiplier, int32_t shift, int32_t zero) {
  *to = requantize_to_s8(v, multiplier, shift, zero, -128, 127);
}
inline void put_step(int16_t* to, uint32_t v, int32_t multiplier, int32_t shift, int32_t zero) {
  *to = static_cast<int16_t>(
      saturate_s16(int64_t{requantize(static_cast<int32_t>(v), multiplier, shift)} + zero));
}

// round(product / 2^shift), halves up
inline int64_t scaled_gate(int64_t product, int32_t shift) {
  return ((product >> (shift - 1)) + 1) >> 1;
}

// What one step has in hand.
template <class Rows, class Step>
struct RecurrentStep {
  using Sum = std::conditional_t<sizeof(Step) == 1, int32_t, int64_t>;
  const Step *weight, *recurrent;
  const int32_t *bias, *recurrent_bias, *multiplier, *recurrent_multiplier, *shift;
  int32_t inputs, units;
  const Step *x, *h;
  Step* h_new;

  // Of the gates of unit j, rows j, j + units, ..
  template <int32_t gates>
  void sums(int32_t j, Sum (&of_x)[gates], Sum (&of_h)[gates]) const {
    Rows::sum(weight + j * inputs, units * inputs, x, inputs, of_x);
    Rows::sum(recurrent + j * units, units * units, h, units, of_h);
  }
  int64_t of_input(int32_t row, Sum of_x) const {
    return int64_t{bias[row] + of_x} * multiplier[row];
  }
  int64_t of_state(int32_t row, Sum of_h) const {
    return int64_t{recurrent_bias[row] + of_h} * recurrent_multiplier[row];
  }
  int32_t gate(int32_t row, Sum of_x, Sum of_h) const {
    // scaled_gate(), saturated before its last shift, which changes no result and stays in 32 bits
    return saturate_s16(round_up_shift_right(
        saturate_s32((of_input(row, of_x) + of_state(row, of_h)) >> (shift[row] - 1)), 1));
  }
  // Apart: gcc 12 keeps nothing in registers where it is inlined.
  template <int32_t gates>
  [[gnu::noinline]] void all(int32_t j, int32_t (&gate_of)[gates]) const {
    Sum of_x[gates], of_h[gates];
    sums(j, of_x, of_h);
    for (int32_t g = 0, r = j; g < gates; ++g, r += units) gate_of[g] = gate(r, of_x[g], of_h[g]);
  }
};

// begin(direction, entry), then update(step) for each step in order, then end(direction, entry).
template <class Rows, class Step, class Begin, class Update, class End>
void run_recurrent(const RecurrentArgsOf<Step>& a, int32_t rows, const Begin& begin,
                   const Update& update, const End& end) {
  const int32_t kinds = a.h_0 != nullptr ? 2 : 1;
  for (int32_t d = 0; d < a.directions; ++d) {
    const bool backward = a.reverse != (d == 1);
    for (int32_t n = 0; n < a.batch; ++n) {
      Step* const last = a.h_n + (d * a.batch + n) * a.units;
      for (int32_t j = 0; j < a.units; ++j) last[j] = static_cast<Step>(a.y_zero);
      const Step* h = a.h_0 != nullptr ? a.h_0 + (d * a.batch + n) * a.units : last;
      begin(d, n);
      for (int32_t s = 0; s < a.steps; ++s) {
        const int32_t t = backward ? a.steps - 1 - s : s,
                      row = a.batch_first ? n * a.steps + t : t * a.batch + n;
        const int32_t k = (d * kinds + (kinds == 2 && s == 0 ? 1 : 0)) * rows;
        Step* const to =
            a.sequence ? a.y + (row * a.directions + d) * a.units : a.y + (s & 1) * a.units;
        update(RecurrentStep<Rows, Step>{
            a.weight + d * rows * a.inputs, a.recurrent + d * rows * a.units, a.bias + d * rows,
            a.recurrent_bias + k, a.multiplier + d * rows, a.recurrent_multiplier + k,
            a.shift + d * rows, a.inputs, a.units, a.x + row * a.inputs, h, to});
        h = to;
      }
      for (int32_t j = 0; j < a.units; ++j) last[j] = h[j];
      end(d, n);
    }
  }
}

}  // namespace deuteron

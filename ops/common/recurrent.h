// SPDX-License-Identifier: Apache-2.0
// What LSTM, GRU and the plain RNN have in common on the host: the form of the layer, its operands,
// its results and its constants.
//   Operands  x, then for each direction: input weight [rows,inputs], recurrent weight
//   [rows,units], input bias [rows], recurrent bias
//             [rows], rows = gates * units; at the end, when the layer does not begin with zeros,
//             h_0 [directions,n,units] (and c_0)
//   Results   y, h_n [directions,n,units] (and c_n); without y when `sequence` is false
//   x, y      [t,n,..], or [n,t,..] when batch_first; the last axis of y has the units of the one
//   direction, then those of the other
#pragma once
#include <cmath>
#include <span>
#include <vector>

#include "ops/op.h"

namespace deuteron {

struct RecurrentForm {
  bool batch_first = false;
  bool reverse = false;        // begins with the last step
  bool bidirectional = false;  // a second direction, against the first
  bool sequence = true;        // y is a result

  i64 directions() const { return bidirectional ? 2 : 1; }
  bool operator==(const RecurrentForm&) const = default;
  static void fields(auto& self, auto&& visit) {
    visit("batch_first", self.batch_first);
    visit("reverse", self.reverse);
    visit("bidirectional", self.bidirectional);
    visit("sequence", self.sequence);
  }
};

// How an operator differs from the others.
struct RecurrentKind {
  const char* name;
  i64 gates, states;  // states: h, or h and c
};

struct RecurrentSizes {
  i64 steps, batch, inputs, units, directions, rows;
};
RecurrentSizes sizes_of(const RecurrentForm& form, TypeView in);

enum { kInputWeight, kStateWeight, kInputBias, kStateBias, kWeightsOfADirection };
inline size_t weight_operand(i64 direction, int which) {
  return static_cast<size_t>(1 + kWeightsOfADirection * direction + which);
}
inline size_t initial_operand(const RecurrentForm& form) {
  return weight_operand(form.directions(), 0);
}

Result<std::vector<Type>> infer_recurrent(const RecurrentForm& form, const RecurrentKind& kind,
                                          TypeView in);
i64 recurrent_macs(const RecurrentForm& form, TypeView in);

// One step of one direction in float: sums of the inputs and of the state with their biases, by
// row; the state before; where the new one goes. `cell` is the cell state of this direction and
// batch entry (null where there is none).
struct FloatStep {
  i64 units;
  const double *input_sums, *state_sums;
  const float* h;
  float *h_new, *cell;
};
inline double sigmoid(double v) { return 1 / (1 + std::exp(-v)); }
void execute_recurrent(const RecurrentForm& form, const RecurrentKind& kind,
                       std::span<const HostTensor> in, std::span<const HostTensor> out,
                       void (*step)(const FloatStep&));

// The constants of a kernel: rows of weights with a scale each, and how sums become gate inputs
// (kernels/recurrent/kernel.h). Weights are the bytes of the kernel's type, which is that of x:
// int8, or int16, low byte first.
struct GateConstants {
  std::vector<int8_t> weight, recurrent;
  std::vector<i32> bias, recurrent_bias, multiplier, recurrent_multiplier, shift;
};
// `unit`: the real step of a gate input. `state_bias_from`: from this row on the recurrent bias
// belongs to the recurrent sum, because that is multiplied before it is added (GRU).
Result<GateConstants> gate_constants(const RecurrentForm& form, const RecurrentKind& kind,
                                     const LowerContext& context, const Quant& state, double unit,
                                     i64 state_bias_from);

// A call with the arguments that all three kernels begin with, up to y_shift. `state_unit`: the
// real step of what becomes y.
struct RecurrentCall {
  CallBuilder call;
  RecurrentSizes sizes;
};
Result<RecurrentCall> begin_recurrent_call(const std::string& kernel, const RecurrentForm& form,
                                           const RecurrentKind& kind, const LowerContext& context,
                                           double unit, i64 state_bias_from, double state_unit);
// The results y and h_n, which stand behind the kernel's own numbers.
void add_state_results(RecurrentCall& c, const RecurrentForm& form, const LowerContext& context);

// How many bits behind the point an int16 has that must hold -range..range: 0..15.
i64 fraction_bits(double range);
// The largest magnitude that an int8 with these parameters can have.
double largest_magnitude(const Quant& quant);

}  // namespace deuteron

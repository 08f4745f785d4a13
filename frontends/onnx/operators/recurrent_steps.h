// SPDX-License-Identifier: Apache-2.0
// The steps of a recurrent layer, written out, for what torch's layers do not have: clipped gates,
// peepholes, coupled gates, other activations.
#pragma once
#include <string>
#include <vector>

#include "frontends/onnx/call/call.h"

namespace deuteron::onnx {

struct Activation {
  std::string name;
  std::vector<double> numbers;  // alpha, beta
};

// One direction. Weights and biases have torch's order of gates: i, f, g, o of an LSTM, r, z, n of
// a GRU.
struct Recurrence {
  i64 hidden = 0, batch = 1, steps = 1;
  bool backward = false, resets_first = false, couples = false;
  double clip = 0;       // of what an activation takes; 0: none
  Operand w, r, wb, rb;  // [gates * hidden, ..], [gates * hidden]; biases or none
  Operand peepholes;     // [3 * hidden] of i, o, f; or none
  std::vector<Activation> functions;
};

struct WrittenOut {
  std::vector<Operand> states;  // [1, batch, hidden] of each step, in the order of the input
  Operand last, cell;           // [1, batch, hidden]; the cell of an LSTM only
};

// x [steps, batch, inputs], h and cell [1, batch, hidden]; a cell makes it an LSTM, three gates a
// GRU.
WrittenOut written_out(Call& c, const Recurrence& l, const Operand& x, const Operand& h,
                       const Operand& cell);

}  // namespace deuteron::onnx

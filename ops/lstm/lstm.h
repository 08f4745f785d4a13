// SPDX-License-Identifier: Apache-2.0
// A layer of LSTM cells (operands and results: ops/common/recurrent.h; rows of the gates in the
// order i, f, g, o):
//   i, f, o = sigmoid(W x + b + U h + d), g = tanh(..);  c = f * c + i * g;  h = o * tanh(c)
#pragma once
#include "ops/common/recurrent.h"

namespace deuteron {

struct Lstm {
  RecurrentForm form;
  float cell_range = 0;  // largest magnitude of the cell state that calibration saw; 0: not known
  bool operator==(const Lstm&) const = default;
  static void fields(auto& self, auto&& visit) {
    RecurrentForm::fields(self.form, visit);
    visit("cell_range", self.cell_range);
  }
};
inline constexpr RecurrentKind kLstmCell{"lstm", 4, 2};
const OpDef<Lstm>& def_of(const Lstm&);
void execute(const Lstm&, std::span<const HostTensor> in,
             std::span<const HostTensor> out);  // execute.cpp
// The largest magnitude that the cell state has on the way.
float largest_cell(const Lstm&, std::span<const HostTensor> in);

}  // namespace deuteron

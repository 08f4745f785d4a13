// SPDX-License-Identifier: Apache-2.0
// A layer of GRU cells (operands and results: ops/common/recurrent.h; rows of the gates in the
// order r, z, n):
//   r, z = sigmoid(W x + b + U h + d);  n = tanh(W x + b + r * (U h + d));  h = (1 - z) * n + z * h
#pragma once
#include "ops/common/recurrent.h"

namespace deuteron {

struct Gru {
  RecurrentForm form;
  bool operator==(const Gru&) const = default;
  static void fields(auto& self, auto&& visit) { RecurrentForm::fields(self.form, visit); }
};
const OpDef<Gru>& def_of(const Gru&);
void execute(const Gru&, std::span<const HostTensor> in,
             std::span<const HostTensor> out);  // execute.cpp

}  // namespace deuteron

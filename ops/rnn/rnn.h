// SPDX-License-Identifier: Apache-2.0
// A layer of plain recurrent cells (operands and results: ops/common/recurrent.h):
//   h = tanh(W x + b + U h + d), or relu(..)
#pragma once
#include "ops/common/recurrent.h"

namespace deuteron {

struct Rnn {
  RecurrentForm form;
  bool relu = false;
  bool operator==(const Rnn&) const = default;
  static void fields(auto& self, auto&& visit) {
    RecurrentForm::fields(self.form, visit);
    visit("relu", self.relu);
  }
};
const OpDef<Rnn>& def_of(const Rnn&);
void execute(const Rnn&, std::span<const HostTensor> in,
             std::span<const HostTensor> out);  // execute.cpp

}  // namespace deuteron

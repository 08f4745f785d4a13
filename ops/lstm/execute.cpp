// SPDX-License-Identifier: Apache-2.0
// Float execution of Lstm.
#include <algorithm>
#include <cmath>

#include "ops/lstm/lstm.h"

namespace deuteron {

static void lstm_step(const FloatStep& s) {
  const auto gate = [&s](i64 g, i64 j) {
    return s.input_sums[g * s.units + j] + s.state_sums[g * s.units + j];
  };
  for (i64 j = 0; j < s.units; ++j) {
    s.cell[j] = static_cast<float>(sigmoid(gate(1, j)) * s.cell[j] +
                                   sigmoid(gate(0, j)) * std::tanh(gate(2, j)));
    s.h_new[j] =
        static_cast<float>(sigmoid(gate(3, j)) * std::tanh(static_cast<double>(s.cell[j])));
  }
}

void execute(const Lstm& a, std::span<const HostTensor> in, std::span<const HostTensor> out) {
  execute_recurrent(a.form, kLstmCell, in, out, lstm_step);
}

// The final cell states of the layer cut after each number of steps would do; one layer whose
// hidden state is kept in their place is the same in one run.
float largest_cell(const Lstm& a, std::span<const HostTensor> in) {
  std::vector<const Type*> types;
  for (const HostTensor& t : in) types.push_back(t.type);
  const Result<std::vector<Type>> results = infer_recurrent(a.form, kLstmCell, TypeView(types));
  std::vector<std::vector<float>> data;
  std::vector<HostTensor> out;
  for (const Type& t : *results) data.emplace_back(static_cast<size_t>(t.elements()));
  for (size_t k = 0; k < data.size(); ++k) out.push_back({&(*results)[k], data[k].data()});
  static thread_local float most;
  most = 0;
  if (in.size() > initial_operand(a.form))
    for (i64 k = 0; k < in.back().type->elements(); ++k)
      most = std::max(most, std::fabs(in.back().data[k]));
  execute_recurrent(a.form, kLstmCell, in, out, [](const FloatStep& s) {
    lstm_step(s);
    for (i64 j = 0; j < s.units; ++j) most = std::max(most, std::fabs(s.cell[j]));
  });
  return most;
}

}  // namespace deuteron

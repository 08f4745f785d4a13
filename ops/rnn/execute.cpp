// SPDX-License-Identifier: Apache-2.0
// Float execution of Rnn.
#include <algorithm>
#include <cmath>

#include "ops/rnn/rnn.h"

namespace deuteron {

void execute(const Rnn& a, std::span<const HostTensor> in, std::span<const HostTensor> out) {
  const auto tanh_step = [](const FloatStep& s) {
    for (i64 j = 0; j < s.units; ++j)
      s.h_new[j] = static_cast<float>(std::tanh(s.input_sums[j] + s.state_sums[j]));
  };
  const auto relu_step = [](const FloatStep& s) {
    for (i64 j = 0; j < s.units; ++j)
      s.h_new[j] = static_cast<float>(std::max(0.0, s.input_sums[j] + s.state_sums[j]));
  };
  execute_recurrent(a.form, {"rnn", 1, 1}, in, out, a.relu ? +relu_step : +tanh_step);
}

}  // namespace deuteron

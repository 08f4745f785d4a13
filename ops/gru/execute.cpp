// SPDX-License-Identifier: Apache-2.0
// Float execution of Gru.
#include <cmath>

#include "ops/gru/gru.h"

namespace deuteron {

static void gru_step(const FloatStep& s) {
  for (i64 j = 0; j < s.units; ++j) {
    const i64 r = j, z = s.units + j, n = 2 * s.units + j;
    const double reset = sigmoid(s.input_sums[r] + s.state_sums[r]),
                 update = sigmoid(s.input_sums[z] + s.state_sums[z]);
    const double fresh = std::tanh(s.input_sums[n] + reset * s.state_sums[n]);
    s.h_new[j] = static_cast<float>((1 - update) * fresh + update * s.h[j]);
  }
}

void execute(const Gru& a, std::span<const HostTensor> in, std::span<const HostTensor> out) {
  execute_recurrent(a.form, {"gru", 3, 1}, in, out, gru_step);
}

}  // namespace deuteron

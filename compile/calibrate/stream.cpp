// SPDX-License-Identifier: Apache-2.0
#include "compile/calibrate/stream.h"

#include <algorithm>

#include "base/tensor/elements.h"
#include "compile/calibrate/float_executor.h"
#include "ops/common/dnn.h"

namespace deuteron {

Samples with_states(const Graph& g, const Samples& samples, Sequence sequence) {
  const size_t users = g.user_inputs().size();
  const auto has_users_alone = [&](const auto& sample) { return sample.size() == users; };
  if (g.states.empty() || !std::all_of(samples.begin(), samples.end(), has_users_alone))
    return samples;
  use_one_thread_for_each_layer();
  const FloatExecutor executor(g);
  std::vector<std::vector<float>> stored;
  for (const State& state : g.states)
    stored.push_back(numbers_of(state.initial.bytes.data(), state.type));
  Samples whole = samples;
  for (std::vector<std::vector<float>>& sample : whole) {
    std::vector<std::vector<float>> inputs = stored_inputs(g, sample);
    for (size_t k = 0; k < stored.size(); ++k) {
      const Port& port = g.state_inputs()[k];
      sample.push_back(to_user(port, g.type(port.value).shape, stored[k]));
      inputs.push_back(stored[k]);
    }
    if (sequence == Sequence::each_new) continue;
    std::vector<std::vector<float>> outputs = executor.run(inputs, {});
    for (size_t k = 0; k < stored.size(); ++k)
      stored[k] = std::move(outputs[outputs.size() - stored.size() + k]);
  }
  return whole;
}

}  // namespace deuteron

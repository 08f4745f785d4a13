// SPDX-License-Identifier: Apache-2.0
#include "compile/calibrate/samples.h"

namespace deuteron {

// Steps, in elements of the user's tensor, for a move along each axis of the storage.
static Axes user_steps(const Port& port, const Shape& storage) {
  const Shape user = logical_shape(port, storage);
  Axes step(user.size(), 1), steps(user.size());
  for (size_t k = user.size(); k-- > 1;) step[k - 1] = step[k] * user[k];
  for (size_t k = 0; k < steps.size(); ++k) steps[k] = step[port.order[k]];
  return steps;
}

// Calls move(position in storage, position in the user's tensor) for each element, in storage
// order.
template <class F>
static void for_each_element(const Port& port, const Shape& storage, F move) {
  const Axes steps = user_steps(port, storage);
  Axes index(storage.size(), 0);
  i64 user = 0;
  for (i64 at = 0, total = numel(storage); at < total; ++at) {
    move(at, user);
    for (size_t k = storage.size(); k-- > 0;) {
      user += steps[k];
      if (++index[k] < storage[k]) break;
      user -= steps[k] * storage[k];
      index[k] = 0;
    }
  }
}

std::vector<float> to_storage(const Port& port, const Shape& storage, std::span<const float> user) {
  DEUTERON_CHECK(static_cast<i64>(user.size()) == numel(storage), port.name);
  std::vector<float> stored(user.size());
  for_each_element(port, storage, [&](i64 at, i64 from) { stored[at] = user[from]; });
  return stored;
}

std::vector<float> to_user(const Port& port, const Shape& storage, std::span<const float> stored) {
  DEUTERON_CHECK(static_cast<i64>(stored.size()) == numel(storage), port.name);
  std::vector<float> user(stored.size());
  for_each_element(port, storage, [&](i64 at, i64 to) { user[to] = stored[at]; });
  return user;
}

std::vector<std::vector<float>> stored_inputs(const Graph& g,
                                              std::span<const std::vector<float>> sample) {
  std::vector<std::vector<float>> stored;
  for (size_t i = 0; i < sample.size(); ++i)
    stored.push_back(to_storage(g.inputs[i], g.type(g.inputs[i].value).shape, sample[i]));
  return stored;
}

}  // namespace deuteron

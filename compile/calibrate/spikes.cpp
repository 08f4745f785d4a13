// SPDX-License-Identifier: Apache-2.0
#include "compile/calibrate/spikes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>

namespace deuteron {

namespace {

constexpr size_t kFewestSamples = 8;   // to say what is usual
constexpr size_t kMostOfSamples = 20;  // one of so many may have a spike
constexpr i64 kMostColumns = 64;
// samples whose farthest numbers differ by more among themselves have no usual size
constexpr double kUnlike = 8;

// Numbers that should be alike: at one index of an axis, or all of an input.
struct Column {
  i64 inner, extent, index;
  bool has(size_t element) const { return static_cast<i64>(element) / inner % extent == index; }
};

std::vector<Column> columns_of(const Shape& shape) {
  std::vector<Column> columns{{1, 1, 0}};
  for (size_t axis = 0; axis < shape.size(); ++axis)
    for (i64 index = 0; shape[axis] > 1 && shape[axis] <= kMostColumns && index < shape[axis];
         ++index)
      columns.push_back({numel(std::span(shape).subspan(axis + 1)), shape[axis], index});
  return columns;
}

double middle_of(std::vector<double> numbers) {
  const auto middle = numbers.begin() + static_cast<std::ptrdiff_t>(numbers.size() / 2);
  std::ranges::nth_element(numbers, middle);
  return *middle;
}

struct Far {
  double distance = 0;
  size_t element = 0;
};

// Of each sample the number that is farthest from the middle of the column.
std::vector<Far> farthest(const Samples& samples, size_t input, const Column& column) {
  std::vector<double> means;
  for (const auto& sample : samples) {
    double sum = 0, count = 0;
    for (size_t k = 0; k < sample[input].size(); ++k)
      if (column.has(k)) sum += sample[input][k], ++count;
    means.push_back(count == 0 ? 0 : sum / count);
  }
  const double middle = middle_of(std::move(means));
  std::vector<Far> far(samples.size());
  for (size_t s = 0; s < samples.size(); ++s)
    for (size_t k = 0; k < samples[s][input].size(); ++k)
      if (const double d = std::abs(samples[s][input][k] - middle);
          column.has(k) && d > far[s].distance)
        far[s] = {d, k};
  return far;
}

// The samples whose farthest number lies kLeastSpike times as far as that of any other; 0: none do.
// `order`: the farthest first.
size_t count_of_spikes(const std::vector<Far>& far, const std::vector<size_t>& order) {
  size_t spikes = 0;
  for (size_t k = 1; k <= std::max<size_t>(1, far.size() / kMostOfSamples); ++k)
    if (far[order[k - 1]].distance >= kLeastSpike * far[order[k]].distance &&
        far[order[k]].distance > 0)
      spikes = k;
  if (spikes == 0) return 0;
  std::vector<double> others;
  for (size_t k = spikes; k < order.size(); ++k) others.push_back(far[order[k]].distance);
  return others[0] <= kUnlike * middle_of(others) ? spikes : 0;
}

}  // namespace

std::vector<Spike> find_spikes(const Graph& g, const Samples& samples) {
  std::map<size_t, Spike> found;
  for (size_t i = 0; i < g.user_inputs().size() && samples.size() >= kFewestSamples; ++i) {
    const Port& port = g.inputs[i];
    const Shape shape = logical_shape(port, g.type(port.value).shape);
    const auto fits = [&](const auto& sample) {
      return sample.size() > i && static_cast<i64>(sample[i].size()) == numel(shape) &&
             std::ranges::all_of(sample[i], [](float x) { return std::isfinite(x); });
    };
    if (g.type(port.value).dtype != DType::f32 || !std::ranges::all_of(samples, fits)) continue;
    for (const Column& column : columns_of(shape)) {
      const std::vector<Far> far = farthest(samples, i, column);
      std::vector<size_t> order(far.size());
      for (size_t s = 0; s < order.size(); ++s) order[s] = s;
      std::ranges::stable_sort(order, std::greater(), [&](size_t s) { return far[s].distance; });
      const size_t spikes = count_of_spikes(far, order);
      for (size_t k = 0; k < spikes; ++k) {
        const Far& at = far[order[k]];
        const Spike spike{order[k], i, at.element, samples[order[k]][i][at.element],
                          at.distance / far[order[spikes]].distance};
        const auto [known, is_new] = found.emplace(spike.sample, spike);
        if (!is_new && spike.ratio > known->second.ratio) known->second = spike;
      }
    }
  }
  std::vector<Spike> spikes;
  if (found.size() <= std::max<size_t>(1, samples.size() / kMostOfSamples))
    for (const auto& [sample, spike] : found) spikes.push_back(spike);
  return spikes;
}

static bool has_spike(const std::vector<Spike>& spikes, size_t sample) {
  return std::ranges::find(spikes, sample, &Spike::sample) != spikes.end();
}

static Samples chosen(const Samples& samples, const std::vector<Spike>& spikes, bool with_spikes) {
  Samples kept;
  for (size_t s = 0; s < samples.size(); ++s)
    if (has_spike(spikes, s) == with_spikes) kept.push_back(samples[s]);
  return kept;
}
Samples without_spikes(const Samples& samples, const std::vector<Spike>& spikes) {
  return chosen(samples, spikes, false);
}
Samples only_spikes(const Samples& samples, const std::vector<Spike>& spikes) {
  return chosen(samples, spikes, true);
}

std::string place_of(const Graph& g, const Spike& spike) {
  const Port& port = g.inputs[spike.input];
  const Shape shape = logical_shape(port, g.type(port.value).shape);
  std::vector<i64> index(shape.size());
  i64 rest = static_cast<i64>(spike.element);
  for (size_t k = shape.size(); k > 0; --k)
    index[k - 1] = rest % shape[k - 1], rest /= shape[k - 1];
  return fmt::format("`{}`[{}]", port.name, fmt::join(index, ", "));
}

}  // namespace deuteron

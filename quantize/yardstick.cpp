#include "quantize/yardstick.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

#include "calibrate/each_sample.h"

namespace deuteron {

namespace {

constexpr i64 kMostSimulations = 400;
constexpr i64 kCostOfObserving = 3;  // in runs of each sample: it runs twice, and its values are counted
// Samples that a simulation runs, evenly taken from those given: of a large network so few that there is time for kWantedSimulations.
constexpr size_t kFewestSamples = 4, kMostSamples = 64;
constexpr i64 kWantedSimulations = 12;
// Each part costs a version of the network. Large networks, which have time for few simulations, get two.
constexpr size_t kFewParts = 2;
constexpr i64 kSimulationsForAllParts = 40;

struct Sums {
  double signal = 0, noise = 0;
  void add(const Sums& o) { signal += o.signal, noise += o.noise; }
  double db() const { return noise == 0 ? kExact : std::clamp(10 * std::log10(signal / noise), -kExact, kExact); }
  static constexpr double kExact = 200;  // no error that float32 can show is smaller
};

// Of halves of the samples, drawn by lot.
HeldOut expected_of(std::vector<Sums> sums) {
  constexpr size_t kDraws = 200;
  std::minstd_rand lot(1);  // the same draws everywhere
  std::vector<double> halves(kDraws);
  for (double& db : halves) {
    Sums half;
    for (size_t k = 0; 2 * k < sums.size(); ++k) {
      std::swap(sums[k], sums[k + lot() % (sums.size() - k)]);
      half.add(sums[k]);
    }
    db = half.db();
  }
  const double mean = std::accumulate(halves.begin(), halves.end(), 0.0) / kDraws;
  std::sort(halves.begin(), halves.end());
  return {mean, halves[kDraws / 10], halves[kDraws - 1 - kDraws / 10]};
}

Score score_of(const std::vector<Sums>& sums) {
  Sums all;
  double each = 0;
  for (const Sums& sample : sums) {
    all.add(sample);
    each += sample.db() / static_cast<double>(sums.size());
  }
  return {.sqnr_db = all.db(), .value = (all.db() + each) / 2, .expected = expected_of(sums)};
}

}  // namespace

Yardstick::Yardstick(const Samples& samples, int threads, i64 most_runs, size_t most_parts)
    : samples_(samples),
      threads_(threads),
      inputs_(std::min(samples.size(), std::clamp(static_cast<size_t>(most_runs / kWantedSimulations), kFewestSamples, kMostSamples))),
      expected_(inputs_.size()),
      most_simulations_(std::min(most_runs / std::max<i64>(1, static_cast<i64>(inputs_.size())), kMostSimulations)),
      cost_of_observing_((kCostOfObserving * static_cast<i64>(samples.size()) + static_cast<i64>(inputs_.size()) - 1) /
                         std::max<i64>(1, static_cast<i64>(inputs_.size()))) {
  const bool has_time = most_simulations_ >= kSimulationsForAllParts;
  const size_t parts = std::min(std::max<size_t>(1, inputs_.size()), has_time ? most_parts : kFewParts);
  parts_ = static_cast<i32>(parts);
  for (size_t s = 0; s < samples.size(); ++s) part_of_sample_.push_back(static_cast<i32>(s % parts));
  for (size_t k = 0; k < inputs_.size(); ++k) {
    const size_t s = k * samples.size() / inputs_.size();
    part_of_sample_[s] = static_cast<i32>(k % parts);  // the parts have as many of those that are run
    part_of_input_.push_back(part_of_sample_[s]);
  }
}

void Yardstick::expect_answers_of(const Graph& g) {
  const FloatExecutor executor(g);
  for_each_sample(inputs_.size(), threads_, [&](size_t k, int) {
    const auto& sample = samples_[k * samples_.size() / inputs_.size()];
    for (size_t i = 0; i < g.inputs.size(); ++i) inputs_[k].push_back(to_storage(g.inputs[i], g.type(g.inputs[i].value).shape, sample[i]));
    expected_[k] = executor.run(inputs_[k], {});
  });
}

std::optional<Seen> Yardstick::observe(const Graph& g, Diagnostics& diagnostics) const {
  const auto by_part = observe_parts(g, samples_, part_of_sample_, parts_, threads_, diagnostics);
  if (!by_part) return std::nullopt;
  std::vector<i64> samples(static_cast<size_t>(parts_));
  for (const i32 part : part_of_sample_) ++samples[part];
  const auto all_but = [&](i32 left_out) {
    std::vector<i64> counts;
    for (i32 part = 0; part < parts_; ++part)
      if (part != left_out) counts.push_back(samples[part]);
    std::vector<Observation> merged(g.values.size());
    for_each_sample(g.values.size(), threads_, [&](size_t v, int) {
      std::vector<const Observation*> parts;
      for (i32 part = 0; part < parts_; ++part)
        if (part != left_out) parts.push_back(&(*by_part)[part][v]);
      merged[v] = merged_parts(parts, counts);
    });
    return merged;
  };
  Seen seen{all_but(-1), {}};
  for (i32 part = 0; part < parts_; ++part) seen.without.push_back(parts_ == 1 ? seen.all : all_but(part));
  return seen;
}

SeenByWeights Yardstick::observe_weights(const Graph& g) {
  ++simulations_;
  const std::vector<LayerMoments> by_part = input_moments(g, inputs_, part_of_input_, parts_, threads_);
  const auto all_but = [&](i32 left_out) {
    LayerMoments merged(g.nodes.size());
    for (i32 part = 0; part < parts_; ++part)
      for (size_t n = 0; part != left_out && n < merged.size(); ++n) merged[n].add(by_part[part][n]);
    return merged;
  };
  SeenByWeights seen{all_but(-1), {}};
  for (i32 part = 0; part < parts_; ++part) seen.without.push_back(parts_ == 1 ? seen.all : all_but(part));
  return seen;
}

Score Yardstick::held_out(std::span<const std::unique_ptr<FloatExecutor>> by_part) {
  return score([&](size_t k) -> const FloatExecutor& { return *by_part[part_of_input_[k]]; });
}

Score Yardstick::in_sample(const FloatExecutor& executor) {
  return score([&](size_t) -> const FloatExecutor& { return executor; });
}

Score Yardstick::score(const std::function<const FloatExecutor&(size_t input)>& executor) {
  ++simulations_;
  std::vector<Sums> sums(inputs_.size());  // added up in order, so that nothing depends on the threads
  for_each_sample(inputs_.size(), threads_, [&](size_t s, int) {
    const Outputs found = executor(s).run(inputs_[s], {});
    for (size_t o = 0; o < found.size(); ++o)
      for (size_t k = 0; k < found[o].size(); ++k) {
        const double x = expected_[s][o][k], e = x - found[o][k];
        sums[s].add({x * x, e * e});
      }
  });
  return score_of(sums);
}

}  // namespace deuteron

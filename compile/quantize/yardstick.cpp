// SPDX-License-Identifier: Apache-2.0
#include "compile/quantize/yardstick.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

#include "compile/calibrate/each_sample.h"

namespace deuteron {

namespace {

constexpr i64 kMostSimulations = 400;
// in runs of each sample: it runs twice, and its values are counted
constexpr i64 kCostOfObserving = 3;
// Samples that a simulation runs, evenly taken from those given: of a large network so few that
// there is time for kWantedSimulations.
constexpr size_t kFewestSamples = 4, kMostSamples = 64;
constexpr i64 kWantedSimulations = 12;
// Each part costs a version of the network. Large networks, which have time for few simulations,
// get two.
constexpr size_t kFewParts = 2;
constexpr i64 kSimulationsForAllParts = 40;

// Mean of the ratio of all samples but one together, and of their own ratios.
double mean_ratio(const std::vector<Sums>& sums, size_t left_out) {
  Sums all;
  double each = 0, count = 0;
  for (size_t k = 0; k < sums.size(); ++k) {
    if (k == left_out) continue;
    all.add(sums[k]);
    each += sums[k].db(), ++count;
  }
  return (all.db() + each / std::max(1.0, count)) / 2;
}

}  // namespace

double Sums::db() const {
  return noise == 0 ? kNoNoise : std::clamp(10 * std::log10(signal / noise), -kNoNoise, kNoNoise);
}

// Up to a quarter of the sum's precision a part may lack: candidates that differ in the sum alone
// are told apart by the sum, as if it were the only part.
static double of_outputs(const Score& s, size_t left_out) {
  constexpr double kPartsMayLack = 12;  // dB
  const double of_sums = mean_ratio(s.outputs, left_out);
  return s.by_size.empty() ? of_sums
                           : std::min(of_sums, mean_ratio(s.by_size, left_out) + kPartsMayLack);
}

static void add(std::vector<Sums>& to, const std::vector<Sums>& from) {
  for (size_t k = 0; k < to.size(); ++k) to[k].add(from[k]);
}

void Score::add(const Score& other) {
  deuteron::add(outputs, other.outputs);
  deuteron::add(before_bounds, other.before_bounds);
  deuteron::add(by_size, other.by_size);
  for (size_t s = 0; s < parts.size(); ++s) deuteron::add(parts[s], other.parts[s]);
  sum_up();
}

// In the order of the samples, so that nothing depends on the threads.
void Score::sum_up() {
  Sums all;
  for (const Sums& sample : outputs.empty() ? before_bounds : outputs) all.add(sample);
  sqnr_db = all.db();
  value = value_without(parts.size());
}

double Score::value_without(size_t sample) const {
  if (outputs.empty()) return mean_ratio(before_bounds, sample);
  return before_bounds.empty()
             ? of_outputs(*this, sample)
             : (of_outputs(*this, sample) + mean_ratio(before_bounds, sample)) / 2;
}

double Score::steady_value() const {
  return before_bounds.empty() ? of_outputs(*this, outputs.size())
                               : mean_ratio(before_bounds, before_bounds.size());
}

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

Yardstick::Yardstick(const Samples& samples, int threads, i64 most_runs, size_t most_parts)
    : samples_(samples),
      threads_(threads),
      inputs_(
          std::min(samples.size(), std::clamp(static_cast<size_t>(most_runs / kWantedSimulations),
                                              kFewestSamples, kMostSamples))),
      expected_(inputs_.size()),
      most_simulations_(std::min(most_runs / std::max<i64>(1, static_cast<i64>(inputs_.size())),
                                 kMostSimulations)),
      cost_of_observing_((kCostOfObserving * static_cast<i64>(samples.size()) +
                          static_cast<i64>(inputs_.size()) - 1) /
                         std::max<i64>(1, static_cast<i64>(inputs_.size()))) {
  const bool has_time = most_simulations_ >= kSimulationsForAllParts;
  const size_t parts =
      std::min(std::max<size_t>(1, inputs_.size()), has_time ? most_parts : kFewParts);
  parts_ = static_cast<i32>(parts);
  for (size_t s = 0; s < samples.size(); ++s)
    part_of_sample_.push_back(static_cast<i32>(s % parts));
  for (size_t k = 0; k < inputs_.size(); ++k) {
    const size_t s = k * samples.size() / inputs_.size();
    // the parts have as many of those that are run
    part_of_sample_[s] = static_cast<i32>(k % parts);
    part_of_input_.push_back(part_of_sample_[s]);
  }
}

void Yardstick::expect_answers_of(const Graph& plain) {
  outputs_ = plain.outputs.size();
  bounded_ = bounded_outputs(plain);
  Graph g = plain;
  show_what_is_compared(g);
  const FloatExecutor executor(g);
  for_each_sample(inputs_.size(), threads_, [&](size_t k, int) {
    inputs_[k] = stored_inputs(g, samples_[k * samples_.size() / inputs_.size()]);
    expected_[k] = executor.run(inputs_[k], {});
  });
  weigh_parts(plain);
  for (size_t o = 0; o < bounded_.size(); ++o) {
    bounded_[o].low = std::numeric_limits<float>::infinity();
    for (const Outputs& found : expected_) see_lowest(bounded_[o], found[outputs_ + o]);
    if (!std::isfinite(bounded_[o].low))
      bounded_[o].low = -std::numeric_limits<float>::infinity();  // all is masked
    for (Outputs& found : expected_) forget_what_is_not_seen(bounded_[o], found[outputs_ + o]);
  }
}

// Each output weighs as much as any other, and each of its parts as much as its others.
void Yardstick::weigh_parts(const Graph& plain) {
  const size_t user_outputs = plain.user_outputs().size();
  output_parts_.clear(), first_part_.clear(), weighed_.clear();
  for (size_t o = 0; o < outputs_; ++o) {
    const Port& port = plain.outputs[o];
    const Type& type = plain.type(port.value);
    const bool is_integer = type.dtype != DType::f32;
    OutputError seen(type.shape, port.order);
    for (const Outputs& expected : expected_) seen.see(expected[o], expected[o]);
    const bool is_whole = is_integer || o >= user_outputs;
    output_parts_.push_back(is_whole ? OutputError::Parts{-1, 1, {seen.whole()}}
                                     : seen.parts(plain, port));
    first_part_.push_back(weighed_.size());
    const auto count = static_cast<double>(output_parts_[o].errors.size());
    for (size_t p = 0; p < output_parts_[o].errors.size(); ++p) {
      const PartError& part = output_parts_[o].errors[p];
      const double all = part.mean_square() * static_cast<double>(part.count) /
                         static_cast<double>(expected_.size()) * count;
      weighed_.push_back({static_cast<i32>(o), output_parts_[o].axis, static_cast<i64>(p),
                          is_integer, is_integer || all == 0 ? 0 : 1 / all});
    }
    has_numbers_ |= !is_integer;
  }
}

double Yardstick::worst_part_db(const Score& score) const {
  double worst = kNoNoise;
  for (size_t p = 0; p < weighed_.size(); ++p) {
    Sums all;
    for (const std::vector<Sums>& sample : score.parts) all.add(sample[p]);
    if (!weighed_[p].is_integer && all.signal > 0) worst = std::min(worst, all.db());
  }
  return worst;
}

HeldOut Yardstick::expected_of_parts(const std::vector<std::vector<Sums>>& by_sample) const {
  std::vector<Sums> all(by_sample.size()), by_part(weighed_.size());
  for (size_t s = 0; s < by_sample.size(); ++s)
    for (size_t p = 0; p < weighed_.size(); ++p) {
      by_part[p].add(by_sample[s][p]);
      if (!weighed_[p].is_integer) all[s].add(by_sample[s][p]);
    }
  HeldOut expected = expected_of(std::move(all));
  for (size_t p = 0; p < weighed_.size(); ++p) {
    const WeighedPart& part = weighed_[p];
    HeldOutPart told{part.output, part.axis, part.index, by_part[p].db()};
    if (part.is_integer) told.equal_share = 1 - by_part[p].noise / std::max(1.0, by_part[p].signal);
    expected.parts.push_back(told);
  }
  return expected;
}

void Yardstick::show_what_is_compared(Graph& g) const {
  const std::vector<BoundedOutput> bounded = bounded_outputs(g);
  DEUTERON_CHECK(bounded.size() == bounded_.size(), g.name);
  for (const BoundedOutput& output : bounded) g.outputs.push_back({output.read, {}, {}});
}

std::optional<Seen> Yardstick::observe_versions(const Graph& g, const std::vector<Graph>& versions,
                                                Diagnostics& diagnostics) const {
  auto all = deuteron::observe(g, samples_, threads_, diagnostics);
  if (!all) return std::nullopt;
  Seen seen{*std::move(all), {}};
  for (i32 part = 0; part < parts_; ++part) {
    Samples others;
    for (size_t s = 0; s < samples_.size(); ++s)
      if (part_of_sample_[s] != part) others.push_back(samples_[s]);
    auto without = deuteron::observe(versions[part], others, threads_, diagnostics);
    if (!without) return std::nullopt;
    seen.without.push_back(*std::move(without));
  }
  return seen;
}

std::optional<Seen> Yardstick::observe(const Graph& g, Diagnostics& diagnostics,
                                       const Versions& versions) const {
  if (versions) return observe_versions(g, *versions, diagnostics);
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
  for (i32 part = 0; part < parts_; ++part)
    seen.without.push_back(parts_ == 1 ? seen.all : all_but(part));
  return seen;
}

SeenByWeights Yardstick::observe_weights(const Graph& g, const Versions& versions) {
  ++simulations_;
  if (versions) {
    std::vector<i32> every(inputs_.size(), 0);
    LayerMoments all = std::move(input_moments(g, inputs_, every, 1, threads_)[0]);
    return {std::move(all), [this, versions, every](i32 part) {
              std::vector<i32> others = every;
              for (size_t k = 0; k < others.size(); ++k)
                if (part_of_input_[k] == part) others[k] = -1;
              return std::move(input_moments((*versions)[part], inputs_, others, 1, threads_)[0]);
            }};
  }
  std::vector<LayerMoments> by_part = input_moments(g, inputs_, part_of_input_, parts_, threads_);
  const auto all_but = [](const std::vector<LayerMoments>& parts, i32 left_out) {
    LayerMoments merged(parts[0].size());
    for (i32 part = 0; part < static_cast<i32>(parts.size()); ++part)
      for (size_t n = 0; part != left_out && n < merged.size(); ++n) merged[n].add(parts[part][n]);
    return merged;
  };
  LayerMoments all = all_but(by_part, -1);
  return {std::move(all), [all_but, parts = std::move(by_part)](i32 part) {
            return all_but(parts, parts.size() == 1 ? -1 : part);
          }};
}

SeenByWeights Yardstick::observe_weights(const Graph& g, LayerMoments all) {
  ++simulations_;
  const auto known = std::make_shared<const LayerMoments>(all);
  return {std::move(all), [this, &g, known](i32 part) {
            std::vector<i32> only(part_of_input_.size(), -1);
            for (size_t k = 0; k < only.size(); ++k)
              if (part_of_input_[k] == part) only[k] = 0;
            const LayerMoments mine = std::move(input_moments(g, inputs_, only, 1, threads_)[0]);
            LayerMoments others = *known;
            for (size_t n = 0; n < others.size(); ++n) others[n].take_away(mine[n]);
            return others;
          }};
}

Score Yardstick::held_out(const std::function<Graph(i32 part)>& version) {
  Score score = nothing_scored();
  for (i32 part = 0; part < parts_; ++part) {
    std::vector<size_t> inputs;
    for (size_t k = 0; k < inputs_.size(); ++k)
      if (part_of_input_[k] == part) inputs.push_back(k);
    compare(version(part), inputs, score);
  }
  score.sum_up();
  return score;
}

double Yardstick::in_sample(const Graph& quantized) {
  Score score = nothing_scored();
  std::vector<size_t> inputs(inputs_.size());
  std::iota(inputs.begin(), inputs.end(), size_t{0});
  compare(quantized, inputs, score);
  score.sum_up();
  return score.sqnr_db;
}

Yardstick::Outputs Yardstick::answers(const FloatExecutor& executor, size_t input) const {
  Outputs found = executor.run(inputs_[input], {});
  for (size_t k = 0; outputs_ + k < found.size(); ++k)
    forget_what_is_not_seen(bounded_[k], found[outputs_ + k]);
  return found;
}

Score Yardstick::nothing_scored() {
  ++simulations_;
  Score score;
  if (has_numbers_) score.outputs.resize(inputs_.size());
  if (has_numbers_ && weighed_.size() > 1) score.by_size.resize(inputs_.size());
  score.parts.assign(inputs_.size(), std::vector<Sums>(weighed_.size()));
  if (!bounded_.empty()) score.before_bounds.resize(inputs_.size());
  return score;
}

void Yardstick::compare(Graph g, std::span<const size_t> inputs, Score& score) const {
  show_what_is_compared(g);
  const FloatExecutor executor(g);
  for_each_sample(inputs.size(), threads_,
                  [&](size_t k, int) { compare(answers(executor, inputs[k]), inputs[k], score); });
}

void Yardstick::compare(const Outputs& found, size_t s, Score& score) const {
  const auto squares = [](double x, double y) { return Sums{x * x, (x - y) * (x - y)}; };
  for (size_t o = 0; o < outputs_; ++o)
    for (size_t k = 0; k < found[o].size(); ++k) {
      const size_t p = first_part_[o] + output_parts_[o].of(k);
      const float x = expected_[s][o][k], y = found[o][k];
      score.parts[s][p].add(weighed_[p].is_integer ? Sums{1, x == y ? 0.0 : 1.0} : squares(x, y));
    }
  for (size_t p = 0; has_numbers_ && p < weighed_.size(); ++p) {
    const Sums& part = score.parts[s][p];
    if (!weighed_[p].is_integer) score.outputs[s].add(part);
    if (!score.by_size.empty())
      score.by_size[s].add({weighed_[p].weight * part.signal, weighed_[p].weight * part.noise});
  }
  for (size_t o = outputs_; o < found.size(); ++o)
    for (size_t k = 0; k < found[o].size(); ++k)
      score.before_bounds[s].add(squares(expected_[s][o][k], found[o][k]));
}

}  // namespace deuteron

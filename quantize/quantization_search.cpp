#include "quantize/quantization_search.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <set>

#include "calibrate/each_sample.h"
#include "calibrate/float_executor.h"
#include "ops/families.h"
#include "quantize/equalize.h"

namespace deuteron {

namespace {

// Multiply-adds, and elements written, that the search may spend: half a second of one core with AVX2 (measured: 44 G multiply-adds a
// second).
constexpr i64 kBudget = 18'000'000'000;
constexpr i64 kMostSimulations = 400;
constexpr i64 kSimulationsForSeveral = 40;  // from here on the ranges of the three best candidates are adjusted, not of the best alone
constexpr i64 kCostOfObserving = 3;         // in runs of each sample: it runs twice, and its values are counted
// What is tried, in this order, as far as the budget goes. All channels at full power would be fitted to the largest value that the samples
// happen to have in each.
struct Equalization {
  Equalize which;
  float power;
};
constexpr Equalization kEqualizations[] = {
    {Equalize::all, 0.5f}, {Equalize::depthwise, 0.5f}, {Equalize::depthwise, 1}, {Equalize::all, 0.25f}};
constexpr double kChance = 0.25;       // dB: equalized channels that gain less are not worth their risk on other data
constexpr i64 kCostOfAnElement = 8;    // in multiply-adds
constexpr i64 kCostOfAFunction = 500;  // of one element, on top: tanh takes 10 to 30 ns
// Samples that a simulation runs, evenly taken from those given: of a large network so few that there is time for kWantedSimulations.
constexpr size_t kFewestSamples = 4, kMostSamples = 64;
constexpr i64 kWantedSimulations = 12;

i64 cost_of_a_run(const Graph& g) {
  i64 cost = 0;
  for (const Node& node : g.nodes) {
    cost += macs_of(g, node);
    for (const ValueId v : node.outputs)
      cost += (kCostOfAnElement + kCostOfAFunction * facts_of(node.op).slow_functions) * g.type(v).elements();
  }
  return cost;
}

using Outputs = std::vector<std::vector<float>>;

// The noise of all samples together is that of the few that are hard to decide; the mean of the samples' own ratios is that of the many
// that are easy. Both shall be good: what is compared is the mean of the two.
struct Score {
  double sqnr_db = -std::numeric_limits<double>::infinity();  // all samples together
  double value = -std::numeric_limits<double>::infinity();
  double half[2] = {value, value};  // the same of every other sample, and of those between
  // A change that only some samples like would be learnt by heart: both halves must agree.
  bool surely_better_than(const Score& o) const { return value > o.value && half[0] >= o.half[0] && half[1] >= o.half[1]; }
};

struct Sums {
  double signal = 0, noise = 0;
  void add(const Sums& o) { signal += o.signal, noise += o.noise; }
  double db() const { return noise == 0 ? kExact : std::clamp(10 * std::log10(signal / noise), -kExact, kExact); }
  static constexpr double kExact = 200;  // no error that float32 can show is smaller
};

// What the float network answers on the samples, and how far another graph's answers are from that.
class Yardstick {
 public:
  // most_runs: of one sample, that the search may take.
  Yardstick(const Graph& g, const Samples& samples, int threads, i64 most_runs)
      : threads_(threads),
        inputs_(std::min(samples.size(), std::clamp(static_cast<size_t>(most_runs / kWantedSimulations), kFewestSamples, kMostSamples))),
        expected_(inputs_.size()),
        most_simulations_(std::min(most_runs / std::max<i64>(1, static_cast<i64>(inputs_.size())), kMostSimulations)),
        cost_of_observing_((kCostOfObserving * static_cast<i64>(samples.size()) + static_cast<i64>(inputs_.size()) - 1) /
                           std::max<i64>(1, static_cast<i64>(inputs_.size()))) {
    const FloatExecutor executor(g);
    for_each_sample(inputs_.size(), threads_, [&](size_t s, int) {
      const auto& sample = samples[s * samples.size() / inputs_.size()];
      for (size_t i = 0; i < g.inputs.size(); ++i)
        inputs_[s].push_back(to_storage(g.inputs[i], g.type(g.inputs[i].value).shape, sample[i]));
      expected_[s] = executor.run(inputs_[s], {});
    });
  }
  Score score(const FloatExecutor& executor) {
    ++simulations_;
    std::vector<Sums> sums(inputs_.size());  // added up in order, so that nothing depends on the threads
    for_each_sample(inputs_.size(), threads_, [&](size_t s, int) {
      const Outputs found = executor.run(inputs_[s], {});
      for (size_t o = 0; o < found.size(); ++o)
        for (size_t k = 0; k < found[o].size(); ++k) {
          const double x = expected_[s][o][k], e = x - found[o][k];
          sums[s].add({x * x, e * e});
        }
    });
    Score score;
    score.value = value_of(sums, 0, 1, &score.sqnr_db);
    double unused;
    for (size_t h = 0; h < 2 && sums.size() > 1; ++h) score.half[h] = value_of(sums, h, 2, &unused);
    return score;
  }
  // Over every `stride`th sample from `first`.
  static double value_of(const std::vector<Sums>& sums, size_t first, size_t stride, double* sqnr_db) {
    Sums all;
    double each = 0, count = 0;
    for (size_t s = first; s < sums.size(); s += stride) {
      all.add(sums[s]);
      each += sums[s].db();
      ++count;
    }
    *sqnr_db = all.db();
    return (all.db() + each / count) / 2;
  }
  i64 simulations() const { return simulations_; }
  i64 most_simulations() const { return most_simulations_; }
  bool has_time_to_observe_and_score() const { return simulations_ + cost_of_observing_ + 1 <= most_simulations_; }
  void note_observing() { simulations_ += cost_of_observing_; }

 private:
  int threads_;
  std::vector<Outputs> inputs_, expected_;
  i64 simulations_ = 0, most_simulations_, cost_of_observing_;
};

// A float graph, what was seen of it, and the best way so far to quantize it.
struct Candidate {
  std::shared_ptr<const Graph> graph;
  std::shared_ptr<const std::vector<Observation>> seen;
  QuantizeOptions options;
  std::string name;
  Score score;
  double risk = 0;  // dB that it must be better by than one without
  double value() const { return score.value - risk; }
};

struct Simulated {
  Graph graph;
  std::vector<QuantizedValue> values;
};
Simulated quantized(const Candidate& c) {
  Simulated s{*c.graph, {}};
  Diagnostics silent;  // told once, for the candidate that is taken
  s.values = insert_quantization(s.graph, *c.seen, c.options, silent);
  return s;
}

void measure(Candidate& c, Yardstick& yardstick) {
  const Simulated s = quantized(c);
  c.score = yardstick.score(FloatExecutor(s.graph));
}

// A number that float32 holds, which the end of a range that is widened may leave.
float held(double v) { return static_cast<float>(std::clamp<double>(v, -std::numeric_limits<float>::max(), std::numeric_limits<float>::max())); }

// The range of `q` with its ends multiplied by factors.
ActivationQuant moved(const ActivationQuant& q, const Quant& grid, double low_factor, double high_factor, bool symmetric) {
  Observation range;
  range.low = held(static_cast<double>(q.scale) * (grid.low - q.zero_point) * low_factor);
  range.high = held(static_cast<double>(q.scale) * (grid.high - q.zero_point) * high_factor);
  ActivationQuant result = choose(range, Observer::min_max, symmetric, grid.low, grid.high);
  result.observer = q.observer;
  return result;
}

// Coordinate descent over the ends of the clusters' ranges, last clusters first: those act on the outputs most directly. Steps shrink when
// a round over all clusters gains nothing.
int adjust_ranges(Candidate& best, Yardstick& yardstick, i64 most_simulations) {
  Simulated s = quantized(best);
  std::map<std::string, i32> cluster_of;
  std::map<i32, ActivationQuant> chosen, adjusted;
  std::set<i32> symmetric;
  for (const QuantizedValue& v : s.values) {
    cluster_of[v.name + "_q"] = v.cluster;
    if (!v.fixed) chosen[v.cluster] = v.chosen;
    if (v.symmetric) symmetric.insert(v.cluster);
  }
  std::map<i32, std::vector<Quantize*>> nodes;  // attributes are read when a node runs, so a prepared executor sees a change of them
  for (Node& node : s.graph.nodes)
    if (Quantize* q = std::get_if<Quantize>(&node.op)) {
      const auto cluster = cluster_of.find(s.graph.values[node.outputs[0]].name);
      if (cluster != cluster_of.end() && chosen.contains(cluster->second)) nodes[cluster->second].push_back(q);
    }
  std::optional<FloatExecutor> executor(s.graph);
  const auto set = [&](i32 cluster, const ActivationQuant& to) {
    for (Quantize* q : nodes[cluster]) q->quant.scale[0] = to.scale, q->quant.zero_point[0] = to.zero_point;
  };
  Score score = best.score;
  const auto try_move = [&](i32 cluster, double low_factor, double high_factor) {
    if (yardstick.simulations() >= most_simulations) return false;
    const ActivationQuant tried = moved(chosen[cluster], nodes[cluster][0]->quant, low_factor, high_factor, symmetric.contains(cluster));
    if (tried.scale == chosen[cluster].scale && tried.zero_point == chosen[cluster].zero_point) return false;
    set(cluster, tried);
    const Score found = yardstick.score(*executor);
    if (!found.surely_better_than(score)) {
      set(cluster, chosen[cluster]);
      return false;
    }
    score = found;
    adjusted[cluster] = chosen[cluster] = tried;
    return true;
  };
  for (double step = 0.08; step > 0.004 && yardstick.simulations() < most_simulations;) {
    bool gained = false;
    for (auto entry = nodes.rbegin(); entry != nodes.rend(); ++entry) {
      const i32 c = entry->first;
      const Quant& grid = entry->second[0]->quant;
      if (symmetric.contains(c)) {
        gained |= try_move(c, 1 - step, 1 - step) || try_move(c, 1 + step, 1 + step);
        continue;
      }
      const bool lower = grid.zero_point[0] > grid.low, upper = grid.zero_point[0] < grid.high;
      if (upper) gained |= try_move(c, 1, 1 - step) || try_move(c, 1, 1 + step);
      if (lower) gained |= try_move(c, 1 - step, 1) || try_move(c, 1 + step, 1);
    }
    if (!gained) step /= 2;
  }
  executor.reset();  // the next one needs the memory
  // With the final integers of the biases, which depend on the scales: the gain must still be there.
  Candidate final = best;
  for (const auto& [cluster, quant] : adjusted) final.options.given[cluster] = quant;
  measure(final, yardstick);
  if (!final.score.surely_better_than(best.score)) return 0;
  best = std::move(final);
  return static_cast<int>(adjusted.size());
}

// The dialect's linear kernel has one multiplier: weights by channel run as a 1x1 convolution instead. Where weights by tensor cost next to
// nothing, linear layers stay linear layers.
bool keep_linear_layers(Candidate& best, Yardstick& yardstick) {
  constexpr double kNextToNothing = 0.05;  // dB
  const auto is_linear = [](const Node& n) { return std::holds_alternative<Linear>(n.op); };
  if (!best.options.per_channel_linear || std::none_of(best.graph->nodes.begin(), best.graph->nodes.end(), is_linear)) return false;
  Candidate whole = best;
  whole.options.per_channel_linear = false;
  measure(whole, yardstick);
  if (whole.score.value < best.score.value - kNextToNothing) return false;
  best = std::move(whole);
  return true;
}

// Corrected biases, unless the outputs are as good without. The gain in dB.
double keep_corrected_biases(Candidate& best, Yardstick& yardstick) {
  Candidate without = best;
  without.options.correct_bias = false;
  measure(without, yardstick);
  const double gain = best.score.sqnr_db - without.score.sqnr_db;
  if (best.score.value > without.score.value) return gain;
  best = std::move(without);
  return -gain;
}

// Histogram ranges first, then every other way to begin that the budget allows.
std::optional<std::vector<Candidate>> candidates(Candidate plain, const Samples& samples, int threads, Yardstick& yardstick,
                                                 Diagnostics& diagnostics) {
  std::vector<Candidate> tried;
  const auto try_one = [&](Candidate c, Observer observer, const std::string& suffix) {
    c.options.observer = observer;
    c.name = (observer == Observer::histogram ? "histogram" : "min/max") + suffix;
    measure(c, yardstick);
    tried.push_back(std::move(c));
  };
  try_one(plain, Observer::histogram, "");
  try_one(plain, Observer::min_max, "");
  const Observer better = tried[0].score.value >= tried[1].score.value ? Observer::histogram : Observer::min_max;
  const Observer other = better == Observer::histogram ? Observer::min_max : Observer::histogram;
  for (const auto& [which, power] : kEqualizations) {
    if (!plain.options.equalize || !yardstick.has_time_to_observe_and_score()) break;
    Graph equal = *plain.graph;
    if (equalize_channels(equal, *plain.seen, which, power) == 0) continue;
    Candidate c = plain;
    c.risk = kChance;
    c.graph = std::make_shared<const Graph>(std::move(equal));
    auto seen_again = observe(*c.graph, samples, threads, diagnostics);
    if (!seen_again) return std::nullopt;
    yardstick.note_observing();
    c.seen = std::make_shared<const std::vector<Observation>>(std::move(*seen_again));
    const std::string suffix = fmt::format(", {}channels equalized ({})", which == Equalize::depthwise ? "depthwise " : "", power);
    try_one(c, better, suffix);
    if (yardstick.simulations() < yardstick.most_simulations() / 2) try_one(std::move(c), other, suffix);
  }
  return tried;
}

// The best of them after their ranges have been adjusted: of one, or where there is time of the three that promise most.
Candidate refined(std::vector<Candidate> tried, Yardstick& yardstick) {
  std::ranges::stable_sort(tried, std::greater(), &Candidate::value);
  std::set<const Graph*> graphs;  // the better observer of each equalization
  std::erase_if(tried, [&](const Candidate& c) { return !graphs.insert(c.graph.get()).second; });
  tried.resize(std::min<size_t>(tried.size(), yardstick.most_simulations() >= kSimulationsForSeveral ? 3 : 1));
  // One candidate alone, of a large network, gets half of what is left: a few moves of single ranges gain it next to nothing.
  const i64 shares = std::max<i64>(2, static_cast<i64>(tried.size()));
  const i64 each = (yardstick.most_simulations() - yardstick.simulations()) / shares;
  for (Candidate& c : tried)
    if (const int adjusted = adjust_ranges(c, yardstick, yardstick.simulations() + each); adjusted > 0)
      c.name += fmt::format(", {} ranges adjusted", adjusted);
  return std::move(*std::ranges::max_element(tried, {}, &Candidate::value));
}

}  // namespace

std::optional<QuantizationChoice> calibrate_and_quantize(Graph& graph, const Samples& samples, const QuantizeOptions& options, int threads,
                                                         Diagnostics& diagnostics) {
  auto seen = observe(graph, samples, threads, diagnostics);
  if (!seen) return std::nullopt;
  if (options.observer) {
    QuantizationChoice choice;
    choice.policy = *options.observer == Observer::min_max ? "min/max" : "histogram";
    choice.equalized = graph;
    choice.values = insert_quantization(graph, *seen, options, diagnostics);
    return choice;
  }
  Yardstick yardstick(graph, samples, threads, kBudget / std::max<i64>(1, cost_of_a_run(graph)));
  Candidate plain;
  plain.graph = std::make_shared<const Graph>(graph);
  plain.seen = std::make_shared<const std::vector<Observation>>(std::move(*seen));
  plain.options = options;
  std::optional<std::vector<Candidate>> tried = candidates(std::move(plain), samples, threads, yardstick, diagnostics);
  if (!tried) return std::nullopt;
  const double plain_db = tried->front().score.sqnr_db;
  Candidate best = refined(std::move(*tried), yardstick);
  QuantizationChoice choice;
  choice.policy = best.name;
  if (keep_linear_layers(best, yardstick)) choice.policy += ", linear layers by tensor";
  if (options.correct_bias && options.choose_bias_correction) {
    const double gain = keep_corrected_biases(best, yardstick);
    choice.policy += fmt::format(", biases {} ({:+.2f} dB)", best.options.correct_bias ? "corrected" : "not corrected",
                                 std::abs(gain) < 0.005 ? 0.0 : gain);
  }
  choice.sqnr_db = best.score.sqnr_db;
  choice.gain_db = best.score.sqnr_db - plain_db;
  choice.simulations = yardstick.simulations();
  choice.equalized = graph = *best.graph;
  choice.values = insert_quantization(graph, *best.seen, best.options, diagnostics);
  return choice;
}

}  // namespace deuteron

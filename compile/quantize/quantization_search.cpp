// SPDX-License-Identifier: Apache-2.0
#include "compile/quantize/quantization_search.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "compile/calibrate/spikes.h"
#include "compile/quantize/border_scales.h"
#include "compile/quantize/candidate.h"
#include "compile/quantize/equalize.h"
#include "compile/quantize/means_to_convolutions.h"
#include "compile/quantize/precision_search.h"
#include "compile/quantize/quantization_clusters.h"
#include "ops/families.h"

namespace deuteron {

namespace {

// Multiply-adds, and elements written, that the search may spend: half a second of one core with
// AVX2 (measured: 44 G multiply-adds a second).
constexpr i64 kBudget = 18'000'000'000;
// What is tried, in this order, as far as the budget goes. At full power channels would be fitted
// to the largest value that the samples happen to have in each; at 0.75 one that is 16 times
// smaller than the largest keeps room for values twice as large.
struct Equalization {
  Equalize which;
  float power;
};
constexpr Equalization kEqualizations[] = {{Equalize::all, 0.5f},
                                           {Equalize::depthwise, 0.5f},
                                           {Equalize::depthwise, 0.75f},
                                           {Equalize::all, 0.25f}};
// dB: equalized channels that gain less are not worth their risk on other data
constexpr double kChance = 0.25;
constexpr i64 kCostOfAnElement = 8;    // in multiply-adds
constexpr i64 kCostOfAFunction = 500;  // of one element, on top: tanh takes 10 to 30 ns
// Samples never reach as far as what follows them: both ends of every range lie so much further
// out.
constexpr double kMargin = 0.1;
// dB that ranges as they were seen must be better by: coarser steps cost 0.8 dB
constexpr double kRiskOfNoMargin = 2;

i64 cost_of_a_run(const Graph& g) {
  i64 cost = 0;
  for (const Node& node : g.nodes) {
    cost += macs_of(g, node);
    for (const ValueId v : node.outputs)
      cost += (kCostOfAnElement + kCostOfAFunction * facts_of(node.op).slow_functions) *
              g.type(v).elements();
  }
  return cost;
}

void measure(QuantizationCandidate& c, Yardstick& yardstick, Measured& all) {
  measure(c, yardstick);
  all.push_back(c);
}

// What the policy says of scale_borders().
std::string of_borders(int scaled) { return scaled > 0 ? ", channels at the borders scaled" : ""; }

// Histogram ranges and no search.
void set_plain(QuantizationCandidate& c) {
  c.options.observer = Observer::histogram;
  c.options.margin = kMargin;
}

struct ScaledBorders {
  QuantizationCandidate plain;
  int places = 0;
};

// Sizes of channels are taken from samples, as ranges are: a part of them is answered by a version
// whose sizes say nothing of it. Nothing, when a sample makes something that is not finite of
// numbers that only other roundings tell from the graph's own: a logarithm of what was just above
// 0.
std::optional<ScaledBorders> scaled_borders(const Graph& graph, const Seen& seen,
                                            Yardstick& yardstick, const QuantizeOptions& options,
                                            Borders which) {
  Diagnostics silent;
  ScaledBorders scaled;
  scaled.plain.options = options;
  Graph all = graph;
  scaled.places = scale_borders(all, seen.all, options.float_ports, which);
  if (scaled.places == 0) return scaled;
  QuantizationCandidate& c = scaled.plain;
  if (yardstick.parts() > 1) {
    std::vector<Graph> versions(seen.without.size(), graph);
    for (size_t part = 0; part < versions.size(); ++part)
      scale_borders(versions[part], seen.all, options.float_ports, which, &seen.without[part]);
    c.versions = std::make_shared<const std::vector<Graph>>(std::move(versions));
  }
  c.graph = std::make_shared<const Graph>(std::move(all));
  auto own = yardstick.observe(*c.graph, silent, c.versions);
  if (!own) return std::nullopt;
  yardstick.note_observing(c.versions);
  c.seen = std::make_shared<const Seen>(*std::move(own));
  set_plain(c);
  measure(c, yardstick);
  constexpr double kSizedMargin = 0.5;  // of channels of one size
  constexpr double kWorthWide = 0.5;    // dB: versions have fewer samples, and clip more of others
  QuantizationCandidate wide = c;
  wide.options.sized_margin = kSizedMargin;
  measure(wide, yardstick);
  if (wide.score.value >= c.score.value + kWorthWide) c = std::move(wide);
  return scaled;
}

// What is seen, once the borders are scaled where that is worth its calls.
std::optional<ScaledBorders> observe_scaled(const Graph& graph, Yardstick& yardstick,
                                            const QuantizeOptions& options,
                                            Diagnostics& diagnostics) {
  // dB: mixed units gain more, and each such place is a call or float arithmetic
  constexpr double kWorthIt = 3;
  constexpr double kOfBoth = 0.5;   // dB that inputs and outputs must gain over one of them
  constexpr double kMayLose = 0.2;  // dB, of the worst part of an output
  auto seen = yardstick.observe(graph, diagnostics);
  if (!seen) return std::nullopt;
  ScaledBorders none;
  none.plain.graph = std::make_shared<const Graph>(graph);
  none.plain.seen = std::make_shared<const Seen>(*std::move(seen));
  none.plain.options = options;
  Graph all = graph;
  if (scale_borders(all, none.plain.seen->all, options.float_ports) == 0) return none;
  yardstick.expect_answers_of(graph);
  set_plain(none.plain);
  measure(none.plain, yardstick);
  const double worst = yardstick.worst_part_db(none.plain.score);
  std::optional<ScaledBorders> best;
  int places_of_all = 0;
  double wanted = none.plain.score.value + kWorthIt;
  for (const Borders which : {Borders::all, Borders::inputs, Borders::outputs}) {
    auto some = scaled_borders(graph, *none.plain.seen, yardstick, options, which);
    if (!some) continue;
    if (which == Borders::all) places_of_all = some->places;
    else if (some->places == 0 || some->places >= places_of_all) continue;
    const Score& score = some->plain.score;
    if (score.value < wanted || yardstick.worst_part_db(score) < worst - kMayLose) continue;
    wanted = std::max(wanted, score.value - (which == Borders::all ? kOfBoth : 0));
    best = std::move(some);
  }
  return best ? std::move(*best) : std::move(none);
}

// Where weights by tensor cost next to nothing, linear layers stay linear layers.
bool keep_linear_layers(QuantizationCandidate& best, Yardstick& yardstick, Measured& all) {
  constexpr double kNextToNothing = 0.05;  // dB
  const auto is_linear = [](const Node& n) { return std::holds_alternative<Linear>(n.op); };
  if (best.options.linear_weights != LinearWeights::searched ||
      std::ranges::none_of(best.graph->nodes, is_linear))
    return false;
  QuantizationCandidate whole = best;
  whole.options.linear_weights = LinearWeights::by_tensor;
  whole.risk -= kNextToNothing;
  measure(whole, yardstick, all);
  if (whole.value() < best.value()) return false;
  best = std::move(whole);
  return true;
}

// Means of images with a scale of their own, where that is worth its weights and its call. Nothing,
// when observing fails.
std::optional<bool> keep_means_with_own_scales(QuantizationCandidate& best, Yardstick& yardstick,
                                               Measured& all, Diagnostics& diagnostics) {
  constexpr double kWorthIt = 0.5;  // dB
  QuantizationCandidate own = best;
  const auto on_cpu = [&](const Graph& g, const Node& n) {
    return !best.options.runs_on_npu || !best.options.runs_on_npu(g, n);
  };
  const auto change = [&](Graph& g, const std::vector<Observation>&) {
    return means_to_convolutions(g, on_cpu);
  };
  if (own.change(change) == 0) return false;
  auto seen = yardstick.observe(*own.graph, diagnostics, own.versions);
  if (!seen) return std::nullopt;
  yardstick.note_observing(own.versions);
  own.seen = std::make_shared<const Seen>(std::move(*seen));
  own.risk += kWorthIt;
  measure(own, yardstick, all);
  if (own.value() < best.value()) return false;
  best = std::move(own);
  return true;
}

// Weights of a layer rounded together, unless the outputs are as good without. The gain in dB;
// nothing when they are not. Outputs that come out the same do not count, whatever they are made of
// says: the rounding is fitted to these samples.
std::optional<double> keep_weights_together(QuantizationCandidate& best, Yardstick& yardstick,
                                            Measured& all) {
  constexpr double kTheSame = 0.01;  // dB
  QuantizationCandidate together = best;
  together.weights =
      std::make_shared<const SeenByWeights>(yardstick.observe_weights(*best.graph, best.versions));
  measure(together, yardstick, all);
  const double gain = together.score.sqnr_db - best.score.sqnr_db;
  if (together.score.value <= best.score.value || std::abs(gain) < kTheSame) return std::nullopt;
  best = std::move(together);
  return gain;
}

// Corrected biases, unless the outputs are as good without. The gain in dB.
double keep_corrected_biases(QuantizationCandidate& best, Yardstick& yardstick, Measured& all) {
  QuantizationCandidate without = best;
  without.options.correct_bias = false;
  measure(without, yardstick, all);
  const double gain = best.score.sqnr_db - without.score.sqnr_db;
  if (best.score.value > without.score.value) return gain;
  best = std::move(without);
  return -gain;
}

// What candidates give in more versions, each of which lacks fewer samples. Each version that the
// search compared lacks a quarter of them, and with fewer samples ranges and weights are worse;
// where there is time, each lacks a sixteenth.
class FinerParts {
 public:
  FinerParts(const Graph& plain, const Samples& samples, int threads, i64 most_runs)
      : yardstick_(samples, threads, most_runs, kParts) {
    if (are_finer()) yardstick_.expect_answers_of(plain);
  }
  // False, when observing fails.
  bool measure_again(QuantizationCandidate& c, Diagnostics& diagnostics) {
    if (!are_finer() || c.versions) return true;  // those of a version are known for its part
    auto seen = yardstick_.observe(*c.graph, diagnostics);
    if (!seen) return false;
    c.seen = std::make_shared<const Seen>(std::move(*seen));
    if (c.weights)
      c.weights = std::make_shared<const SeenByWeights>(
          yardstick_.observe_weights(*c.graph, c.weights->all));
    measure(c, yardstick_);
    return true;
  }

 private:
  static constexpr size_t kParts = 16;
  bool are_finer() const { return yardstick_.parts() > static_cast<i32>(kPartsOfASearch); }
  Yardstick yardstick_;
};

// The search is over: what the weights met in each part of its samples is the largest thing that it
// holds.
void forget_parts(QuantizationCandidate& best, Measured& all) {
  std::map<const SeenByWeights*, std::shared_ptr<const SeenByWeights>> whole;
  const auto forget = [&whole](QuantizationCandidate& c) {
    if (!c.weights) return;
    std::shared_ptr<const SeenByWeights>& kept = whole[c.weights.get()];
    if (!kept) kept = std::make_shared<const SeenByWeights>(SeenByWeights{c.weights->all, {}});
    c.weights = kept;
  };
  forget(best);
  std::ranges::for_each(all, forget);
}

// What the best gives on samples that nobody has chosen on. It was chosen on those that there are,
// and comes out best on them by chance, too. So each sample gets the answer of what would be best
// without it. Nothing, when observing fails.
std::optional<HeldOut> expected(const QuantizationCandidate& best, const Measured& all,
                                const Yardstick& yardstick, FinerParts finer,
                                Diagnostics& diagnostics) {
  std::vector<const QuantizationCandidate*> chosen;  // by sample
  for (size_t k = 0; k < best.score.parts.size(); ++k) {
    const auto value = [&](const QuantizationCandidate& c) {
      return c.score.value_without(k) - c.risk;
    };
    const QuantizationCandidate& other = *std::ranges::max_element(all, {}, value);
    chosen.push_back(value(other) > value(best) ? &other : &best);
  }
  std::vector<std::vector<Sums>> sums(chosen.size());
  const auto ask = [&](const QuantizationCandidate& c) {
    if (std::ranges::find(chosen, &c) == chosen.end()) return true;
    QuantizationCandidate again = c;
    if (!finer.measure_again(again, diagnostics)) return false;
    for (size_t k = 0; k < chosen.size(); ++k)
      if (chosen[k] == &c) sums[k] = again.score.parts[k];
    return true;
  };
  if (!ask(best) || !std::ranges::all_of(all, ask)) return std::nullopt;
  return yardstick.expected_of_parts(sums);
}

// Histogram ranges first, then every other way to begin that the budget allows.
std::optional<std::vector<QuantizationCandidate>> candidates(QuantizationCandidate plain,
                                                             Yardstick& yardstick, Measured& all,
                                                             Diagnostics& diagnostics) {
  std::vector<QuantizationCandidate> tried;
  const auto try_one = [&](QuantizationCandidate c, Observer observer, const std::string& suffix) {
    c.options.observer = observer;
    c.name = (observer == Observer::histogram ? "histogram" : "min/max") + suffix;
    if (c.options.margin > 0)
      c.name += fmt::format(", ranges {:.0f} % wider", 100 * c.options.margin);
    measure(c, yardstick, all);
    tried.push_back(std::move(c));
  };
  QuantizationCandidate as_seen = plain;
  as_seen.options.margin = 0;
  as_seen.risk = kRiskOfNoMargin;
  if (plain.options.precision == Precision::int16) {
    plain.options.margin = kWideMargin;
    try_one(std::move(plain), Observer::min_max, "");
    return tried;
  }
  try_one(plain, Observer::histogram, "");
  try_one(plain, Observer::min_max, "");
  const Observer better =
      tried[0].score.value >= tried[1].score.value ? Observer::histogram : Observer::min_max;
  const Observer other = better == Observer::histogram ? Observer::min_max : Observer::histogram;
  for (const auto& [which, power] : kEqualizations) {
    if (!plain.options.equalize || !yardstick.has_time_to_observe_and_score()) break;
    QuantizationCandidate c = plain;
    const auto change = [&, of = which, by = power](Graph& g,
                                                    const std::vector<Observation>& seen) {
      return equalize_channels(g, seen, of, by);
    };
    if (c.change(change) == 0) continue;
    c.risk = kChance;
    auto seen_again = yardstick.observe(*c.graph, diagnostics, c.versions);
    if (!seen_again) return std::nullopt;
    yardstick.note_observing(c.versions);
    c.seen = std::make_shared<const Seen>(std::move(*seen_again));
    const std::string suffix = fmt::format(", {}channels equalized ({})",
                                           which == Equalize::depthwise ? "depthwise " : "", power);
    try_one(c, better, suffix);
    if (yardstick.simulations() < yardstick.most_simulations() / 2)
      try_one(std::move(c), other, suffix);
  }
  for (const Observer observer : {Observer::histogram, Observer::min_max})
    try_one(as_seen, observer, "");
  return tried;
}

struct Limits {
  const MixedPrecision* mixed;
  const WeightLimits* int4;
};

std::vector<InFloat> in_float(const Graph& graph, const QuantizeOptions& options) {
  Diagnostics silent;
  const QuantizationPlan plan = plan_quantization(graph, options, silent);
  std::vector<InFloat> found;
  for (size_t n = 0; n < graph.nodes.size(); ++n)
    if (plan.why_float[n]) found.push_back({graph.nodes[n].origin, plan.why_float[n]});
  return found;
}

// With the observer that the user asks for, and nothing else.
std::optional<QuantizationChoice> without_search(Graph& graph, const Samples& samples,
                                                 const QuantizeOptions& options, int threads,
                                                 Diagnostics& diagnostics) {
  const auto seen = observe(graph, samples, threads, diagnostics);
  if (!seen) return std::nullopt;
  QuantizationChoice choice;
  choice.policy = *options.observer == Observer::min_max ? "min/max" : "histogram";
  choice.equalized = graph;
  choice.in_float = in_float(graph, options);
  choice.values = insert_quantization(graph, *seen, options, diagnostics);
  return choice;
}

// What is tried on the best of the candidates of an int8 program, one after the other: what helps
// stays, and `policy` says so. False, with a diagnostic: a trial failed.
bool keep_what_helps(QuantizationCandidate& best, const QuantizeOptions& options,
                     Yardstick& yardstick, Measured& all, std::string& policy,
                     Diagnostics& diagnostics) {
  if (yardstick.has_time_to_observe_and_score()) {
    const std::optional<bool> own = keep_means_with_own_scales(best, yardstick, all, diagnostics);
    if (!own) return false;
    if (*own) policy += ", means with scales of their own";
  }
  if (keep_linear_layers(best, yardstick, all)) policy += ", linear layers by tensor";
  std::optional<double> together;
  if (options.correct_bias && yardstick.has_time_to_observe_and_score())
    together = keep_weights_together(best, yardstick, all);
  if (together) {
    policy += fmt::format(", weights rounded together ({:+.2f} dB)", *together);
  } else if (options.correct_bias && options.choose_bias_correction) {
    const double gain = keep_corrected_biases(best, yardstick, all);
    policy += fmt::format(", biases {} ({:+.2f} dB)",
                          best.options.correct_bias ? "corrected" : "not corrected",
                          std::abs(gain) < 0.005 ? 0.0 : gain);
  }
  return true;
}

std::optional<QuantizationChoice> search(Graph& graph, const Samples& samples,
                                         const QuantizeOptions& options, int threads,
                                         Diagnostics& diagnostics, const Limits& limits) {
  const auto [mixed, int4] = limits;
  DEUTERON_CHECK(!mixed || !int4);
  DEUTERON_CHECK((!mixed && !int4) ||
                 (!options.observer && options.precision == Precision::int8 && samples.size() > 1));
  if (options.observer) return without_search(graph, samples, options, threads, diagnostics);
  const bool is_int8 = options.precision == Precision::int8;
  const i64 most_runs = kBudget / std::max<i64>(1, cost_of_a_run(graph));
  Yardstick yardstick(samples, threads, most_runs);
  auto scaled = observe_scaled(graph, yardstick, options, diagnostics);
  if (!scaled) return std::nullopt;
  QuantizationCandidate plain = std::move(scaled->plain);
  const Graph plain_graph = *plain.graph;
  yardstick.expect_answers_of(plain_graph);
  plain.options.margin = options.margin;
  plain.options.observer = is_int8 ? Observer::histogram : Observer::min_max;
  measure(plain, yardstick);
  const double plain_db = plain.score.sqnr_db;
  QuantizationChoice choice;
  plain.options.margin = kMargin;
  choice.front_ends = keep_front_ends(plain, yardstick);
  Measured all;
  std::optional<std::vector<QuantizationCandidate>> tried =
      candidates(std::move(plain), yardstick, all, diagnostics);
  if (!tried) return std::nullopt;
  QuantizationCandidate best =
      std::move(*std::ranges::max_element(*tried, {}, &QuantizationCandidate::value));
  choice.policy = best.name + of_borders(scaled->places);
  if (choice.front_ends) choice.policy += ", what leads to a logarithm or an integer in float";
  if (is_int8 && !keep_what_helps(best, options, yardstick, all, choice.policy, diagnostics))
    return std::nullopt;
  if (mixed) {
    all.clear();  // what is compared with is mixed, too
    choice.precision = choose_precision(best, *mixed, yardstick, all, diagnostics);
    if (!choice.precision) return std::nullopt;
  }
  if (int4) {
    choice.weights = choose_int4_weights(best, *int4, yardstick, diagnostics);
    if (!choice.weights) return std::nullopt;
    all = {best};  // others keep all weights in eight bits
  }
  forget_parts(best, all);
  if (yardstick.parts() > 1)
    choice.held_out = expected(best, all, yardstick,
                               FinerParts(plain_graph, samples, threads, most_runs), diagnostics);
  choice.gain_db = best.score.sqnr_db - plain_db;
  choice.equalized = *best.graph;
  choice.in_float = in_float(*best.graph, best.options);
  choice.values = quantize_on_all(best, graph, diagnostics);
  choice.sqnr_db = yardstick.in_sample(graph);
  choice.simulations = yardstick.simulations();
  return choice;
}

// What samples without spikes give where they alone choose the ranges, and where those with spikes
// do, too. Held out, dB.
struct WithAndWithout {
  double with, without;
};
std::optional<WithAndWithout> try_without(const Graph& graph, const Samples& samples,
                                          const std::vector<Spike>& spikes,
                                          const QuantizeOptions& options, int threads) {
  const Samples others = without_spikes(samples, spikes);
  Diagnostics silent;
  Yardstick yardstick(others, threads, kBudget / std::max<i64>(1, cost_of_a_run(graph)));
  auto seen = yardstick.observe(graph, silent);
  const auto of_spikes = observe(graph, only_spikes(samples, spikes), threads, silent);
  if (!seen || !of_spikes || yardstick.parts() < 2) return std::nullopt;
  yardstick.expect_answers_of(graph);
  QuantizationCandidate c;
  c.graph = std::make_shared<const Graph>(graph);
  c.options = options;
  c.options.observer = Observer::histogram;
  c.options.margin = kMargin;
  c.seen = std::make_shared<const Seen>(*seen);
  measure(c, yardstick);
  const double without = c.score.value;
  const std::vector<i64> counts{static_cast<i64>(others.size()), static_cast<i64>(spikes.size())};
  for (std::vector<Observation>& part : seen->without)
    for (size_t v = 0; v < part.size(); ++v)
      part[v] = merged_parts(std::vector{&std::as_const(part[v]), &(*of_spikes)[v]}, counts);
  c.seen = std::make_shared<const Seen>(std::move(*seen));
  measure(c, yardstick);
  return WithAndWithout{c.score.value, without};
}

void tell(const Graph& graph, const Spike& spike, const std::string& what_of_it,
          Diagnostics& diagnostics) {
  diagnostics.add(
      {Severity::warning, graph.name,
       fmt::format(
           "calibration sample {} has {:.5g} at {}, far from all that other samples have there{}",
           spike.sample, spike.value, place_of(graph, spike), what_of_it),
       fmt::format("{:.0f} times as far", spike.ratio), fmt::format("{:.0f}", kLeastSpike),
       "calibrate.spike",
       "remove the sample, or repair it; if the device can see such a value, give more samples "
       "that have it"});
}

}  // namespace

std::optional<QuantizationChoice> calibrate_and_quantize(Graph& graph, const Samples& samples,
                                                         const QuantizeOptions& options,
                                                         int threads, Diagnostics& diagnostics,
                                                         const MixedPrecision* mixed,
                                                         const WeightLimits* int4) {
  constexpr double kWorthLeavingOut = 1;  // dB
  const std::vector<Spike> spikes = find_spikes(graph, samples);
  std::optional<WithAndWithout> held_out;
  if (!spikes.empty() && !options.observer)
    held_out = try_without(graph, samples, spikes, options, threads);
  const bool leaves_out = held_out && held_out->without >= held_out->with + kWorthLeavingOut;
  const std::string what_of_it =
      leaves_out
          ? fmt::format(
                ", and was left out: held out, the others have {:.1f} dB, and {:.1f} dB with it",
                held_out->without, held_out->with)
          : "";
  for (const Spike& spike : spikes) tell(graph, spike, what_of_it, diagnostics);
  if (!leaves_out) return search(graph, samples, options, threads, diagnostics, {mixed, int4});
  auto choice =
      search(graph, without_spikes(samples, spikes), options, threads, diagnostics, {mixed, int4});
  if (!choice) return std::nullopt;
  for (const Spike& spike : spikes) choice->left_out.push_back(spike.sample);
  choice->policy += fmt::format(", without {} of {} samples", spikes.size(), samples.size());
  return choice;
}

std::optional<Score> plain_score(Graph graph, const Samples& samples,
                                 const QuantizeOptions& options, int threads) {
  // none is held out: what lies beyond a range would hide how forms round
  constexpr size_t kParts = 1;
  const i64 most_runs = kBudget / std::max<i64>(1, cost_of_a_run(graph));
  Yardstick yardstick(samples, threads, most_runs, kParts);
  Diagnostics silent;
  auto scaled = observe_scaled(graph, yardstick, options, silent);
  if (!scaled) return std::nullopt;
  yardstick.expect_answers_of(*scaled->plain.graph);
  // How a value falls between two steps is chance: several steps tell more of few samples.
  std::optional<Score> all;
  for (const Observer observer : {Observer::histogram, Observer::min_max})
    for (const double margin : {kMargin, 2 * kMargin}) {
      scaled->plain.options.observer = observer;
      scaled->plain.options.margin = margin;
      measure(scaled->plain, yardstick);
      if (all) all->add(scaled->plain.score);
      else all = scaled->plain.score;
    }
  return all;
}

}  // namespace deuteron

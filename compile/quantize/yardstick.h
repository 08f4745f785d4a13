// SPDX-License-Identifier: Apache-2.0
// How well a quantized network answers on samples that its ranges were not chosen on:
// cross-validation over the calibration samples.
#pragma once
#include <algorithm>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "compile/calibrate/calibrate.h"
#include "compile/calibrate/float_executor.h"
#include "compile/calibrate/input_moments.h"
#include "compile/calibrate/output_parts.h"
#include "compile/quantize/bounded_outputs.h"
#include "compile/quantize/held_out.h"

namespace deuteron {

// Of one sample: squares of what the float network answers, and of how far another one is from it.
struct Sums {
  double signal = 0, noise = 0;
  void add(const Sums& o) { signal += o.signal, noise += o.noise; }
  double db() const;  // kNoNoise where there is none
};

struct Score {
  double sqnr_db = -std::numeric_limits<double>::infinity();  // all samples together
  // The noise of all samples together is that of the few that are hard to decide; the mean of the
  // samples' own ratios is that of the many that are easy. Both shall be good: what is compared is
  // the mean of the two. Half of it is of the outputs, and half, where there are such, of what
  // bounded outputs are made of (compile/quantize/bounded_outputs.h). Of the outputs that is the
  // ratio of the sums, or where a part of them is far worse, that of the parts, each weighed by its
  // own size (compile/calibrate/output_parts.h): one of size 0.01 counts beside one of 100.
  double value = sqnr_db;
  std::vector<Sums> outputs,
      before_bounds;  // by sample; before_bounds: empty where no output is bounded
  std::vector<Sums>
      by_size;  // by sample: of outputs, each part by its own size; empty where there is one part
  std::vector<std::vector<Sums>> parts;  // by sample, then by part, as they are; of integers: how
                                         // many, and how many are others

  // The sums of another one of the same samples.
  void add(const Score& other);
  void sum_up();  // sqnr_db and value of the sums
  double value_without(size_t sample) const;
  // Of what bounded outputs are made of alone, where there are such: softmax of a few undecided
  // samples makes most of the outputs' noise out of whatever their roundings happen to be, and
  // tells little of how large roundings are.
  double steady_value() const;
};

// What a network with these sums gives on halves of the samples, drawn by lot.
HeldOut expected_of(std::vector<Sums> sums);

// A part of an output, and what its error counts.
struct WeighedPart {
  i32 output, axis;  // axis: the user's; -1: all of it
  i64 index;
  bool is_integer;
  double weight;  // 0: it does not count
};

// A graph by part of the samples, if its constants depend on them: the same nodes and values. Null:
// one for all.
using Versions = std::shared_ptr<const std::vector<Graph>>;

// What was seen of the values of a graph in all samples, and in all but those of one part.
struct Seen {
  std::vector<Observation> all;
  std::vector<std::vector<Observation>> without;  // by part
};

// The same of what the weights of its layers meet. They are large: `without` makes those of one
// part when it is asked.
struct SeenByWeights {
  LayerMoments all;
  std::function<LayerMoments(i32 part)> without;
};

inline constexpr size_t kPartsOfASearch = 4;  // each costs a version of every candidate

// What the float network answers on the samples, and how far quantized ones are from that.
class Yardstick {
 public:
  // most_runs: of one sample, that a search may take. most_parts: what the samples fall into, if
  // there is time for so many versions of the network. Nothing runs yet; `samples` must outlive
  // this.
  Yardstick(const Samples& samples, int threads, i64 most_runs,
            size_t most_parts = kPartsOfASearch);

  // The samples fall into so many parts. One part: there is one sample only, and nothing can be
  // held out.
  i32 parts() const { return parts_; }
  // Nothing, with a diagnostic, when the samples do not fit the graph or lead to something that is
  // not finite.
  std::optional<Seen> observe(const Graph& graph, Diagnostics& diagnostics,
                              const Versions& versions = nullptr) const;
  // After expect_answers_of, of the samples that a simulation runs; this must outlive the result.
  SeenByWeights observe_weights(const Graph& graph, const Versions& versions = nullptr);
  // The same where all are known already, in the memory of one part; this and the graph must
  // outlive the result.
  SeenByWeights observe_weights(const Graph& graph, LayerMoments all);
  // Runs the float network, which has been observed, for the answers that others are measured by.
  void expect_answers_of(const Graph& graph);
  // Of a network in as many versions as there are parts: each answers on the part that its ranges
  // were not chosen on. One version at a time, as its weights are as large as the float network's.
  Score held_out(const std::function<Graph(i32 part)>& version);
  // Of one version, on all samples: dB, all together.
  double in_sample(const Graph& quantized);

  // Of the part of an output in float that has least; kNoNoise without such an output.
  double worst_part_db(const Score& score) const;
  // What is expected, by the sums of each sample's parts.
  HeldOut expected_of_parts(const std::vector<std::vector<Sums>>& by_sample) const;

  // passes over all samples, and work that takes as long
  i64 simulations() const { return simulations_; }
  i64 most_simulations() const { return most_simulations_; }
  // Choices of layers that a search tries, beside those that chose the ranges: fewer of large
  // networks, which have time for fewer simulations.
  i64 most_tries() const { return std::min<i64>(600, 8 * most_simulations_); }
  void note_observing(const Versions& versions = nullptr) {
    simulations_ += cost_of_observing_ * (versions ? parts_ : 1);
  }
  bool has_time_to_observe_and_score() const {
    return simulations_ + cost_of_observing_ + 1 <= most_simulations_;
  }

 private:
  using Outputs = std::vector<std::vector<float>>;
  void weigh_parts(const Graph& plain);
  std::optional<Seen> observe_versions(const Graph& graph, const std::vector<Graph>& versions,
                                       Diagnostics& diagnostics) const;
  // More outputs, behind all others.
  void show_what_is_compared(Graph& graph) const;
  Outputs answers(const FloatExecutor& executor, size_t input) const;
  Score nothing_scored();
  void compare(Graph version, std::span<const size_t> inputs, Score& score) const;
  void compare(const Outputs& found, size_t input, Score& score) const;

  const Samples& samples_;
  int threads_;
  std::vector<Outputs> inputs_, expected_;  // of the samples that a simulation runs
  // of the float network; behind them in expected_: what bounded ones are made of
  size_t outputs_ = 0;
  std::vector<OutputError::Parts> output_parts_;  // by output
  std::vector<size_t> first_part_;                // by output: its place in weighed_
  std::vector<WeighedPart> weighed_;
  bool has_numbers_ = false;  // some output is no integer
  std::vector<BoundedOutput> bounded_;
  std::vector<i32> part_of_input_, part_of_sample_;
  i32 parts_ = 1;
  i64 simulations_ = 0, most_simulations_, cost_of_observing_;
};

}  // namespace deuteron

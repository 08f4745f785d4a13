// SPDX-License-Identifier: Apache-2.0
#include "compile/quantize/weight_search.h"

#include <algorithm>
#include <set>

#include "compile/quantize/candidate.h"
#include "compile/quantize/int4_weights.h"
#include "compile/quantize/quantization_clusters.h"
#include "compile/quantize/round_weights.h"
#include "ops/families.h"

namespace deuteron {

namespace {

// A layer alone is told from chance by no less. A gain counts as no loss.
constexpr double kLeastLoss = 0.01;

// of the float graph, in the order in which they were taken
using LayersInOrder = std::vector<NodeId>;

struct Tried {
  LayersInOrder layers;
  Score score;
  ProgramSize size;
};

class WeightSearch {
 public:
  WeightSearch(QuantizationCandidate& best, const WeightLimits& limits, Yardstick& yardstick)
      : best_(best), limits_(limits), yardstick_(yardstick) {
    keep_moments();
    find_layers();
  }

  // False: int8 has no program.
  bool start() {
    const std::optional<ProgramSize> size = size_of({});
    if (!size) return false;
    curve_.push_back({{}, best_.score, *size});
    return true;
  }

  // By the bytes that a layer saves for what it loses alone; then one after the other, as long as
  // all of them together keep to the limit.
  void climb() {
    struct Alone {
      NodeId layer;
      double worth;
    };
    std::vector<Alone> order;
    for (const NodeId layer : layers_) {
      const std::optional<ProgramSize> size = size_of({layer});
      const i64 saved = size ? curve_[0].size.file_bytes - size->file_bytes : 0;
      if (saved <= 0) continue;  // its kernel has no such form
      order.push_back(
          {layer, static_cast<double>(saved) / std::max(loss_of(measured({layer})), kLeastLoss)});
    }
    std::ranges::stable_sort(order, std::greater(), &Alone::worth);
    for (const Alone& next : order) {
      LayersInOrder more = curve_[chosen_].layers;
      more.push_back(next.layer);
      const Score score = measured(more);
      const std::optional<ProgramSize> size = size_of(more);
      if (!size || !is_within(score)) {
        left_out_.push_back(next.layer);
        continue;
      }
      curve_.push_back({more, score, *size});
      chosen_ = curve_.size() - 1;
    }
  }

  // What the layers beyond the limit would come to, for the reader of the curve.
  void go_on() {
    LayersInOrder more = curve_[chosen_].layers;
    for (const NodeId layer : left_out_) {
      more.push_back(layer);
      if (const std::optional<ProgramSize> size = size_of(more))
        curve_.push_back({more, measured(more), *size});
    }
  }

  WeightDecision decision() const {
    WeightDecision d;
    d.chosen = chosen_, d.max_loss_db = limits_.max_loss_db, d.target_db = limits_.target_db;
    for (const Tried& t : curve_) {
      WeightChoice c{{}, t.score.sqnr_db, loss_of(t.score), t.size};
      for (const NodeId n : t.layers)
        c.layers.push_back(describe(*best_.graph, best_.graph->nodes[static_cast<size_t>(n)]));
      d.curve.push_back(std::move(c));
    }
    return d;
  }

  QuantizationCandidate chosen() const {
    QuantizationCandidate c =
        curve_[chosen_].layers.empty() ? int8_ : candidate(curve_[chosen_].layers);
    c.score = curve_[chosen_].score;
    c.moments = nullptr, c.options.rounded = nullptr;  // they belong to these parts
    return c;
  }

 private:
  // Weights of four bits lose little only where they are rounded together, even in a network that
  // gains nothing by that in int8.
  void keep_moments() {
    int8_ = best_;
    if (!best_.weights)
      best_.weights = std::make_shared<const SeenByWeights>(
          yardstick_.observe_weights(*best_.graph, best_.versions));
    std::vector<LayerMoments> by_part;
    for (i32 part = 0; part < yardstick_.parts(); ++part)
      by_part.push_back(best_.weights->without(part));
    best_.moments = std::make_shared<const std::vector<LayerMoments>>(std::move(by_part));
    best_.options.rounded = std::make_shared<RoundedWeights>();
  }

  // The largest ones, if there is no time for all.
  void find_layers() {
    Diagnostics silent;
    const Graph& g = *best_.graph;
    const QuantizationPlan plan = plan_quantization(g, best_.options, silent);
    for (size_t n = 0; n < g.nodes.size(); ++n)
      if (plan.quantized[n] && has_int4_form(g, g.nodes[n]) &&
          (!limits_.may_choose || limits_.may_choose(g, g.nodes[n])))
        layers_.push_back(static_cast<NodeId>(n));
    const auto weights = [&](NodeId n) {
      return g.type(g.nodes[static_cast<size_t>(n)].inputs[1]).elements();
    };
    std::ranges::stable_sort(layers_, std::greater(), weights);
    const i64 tries = yardstick_.most_tries() / 2;  // alone, and with others
    if (static_cast<i64>(layers_.size()) > tries)
      layers_.resize(static_cast<size_t>(std::max<i64>(tries, 1)));
  }

  QuantizationCandidate candidate(const LayersInOrder& layers) const {
    QuantizationCandidate c = best_;
    std::set<ValueId> results;
    for (const NodeId n : layers)
      results.insert(best_.graph->nodes[static_cast<size_t>(n)].outputs[0]);
    c.options.has_int4_weights = [results](const Graph&, const Node& n) {
      return results.contains(n.outputs[0]);
    };
    return c;
  }
  Score measured(const LayersInOrder& layers) {
    QuantizationCandidate c = candidate(layers);
    measure(c, yardstick_);
    return c.score;
  }
  std::optional<ProgramSize> size_of(const LayersInOrder& layers) const {
    return limits_.size_of(sized_on_all(candidate(layers)));
  }
  double loss_of(const Score& s) const {
    const Score& int8 = int8_.score;
    return std::max({int8.sqnr_db - s.sqnr_db, int8.steady_value() - s.steady_value(), 0.0});
  }

  bool is_within(const Score& s) const {
    return (!limits_.max_loss_db || loss_of(s) <= *limits_.max_loss_db) &&
           (!limits_.target_db || s.sqnr_db >= *limits_.target_db);
  }

  QuantizationCandidate& best_;
  QuantizationCandidate int8_;
  const WeightLimits& limits_;
  Yardstick& yardstick_;
  LayersInOrder layers_, left_out_;
  std::vector<Tried> curve_;
  size_t chosen_ = 0;
};

}  // namespace

std::optional<WeightDecision> choose_int4_weights(QuantizationCandidate& best,
                                                  const WeightLimits& limits, Yardstick& yardstick,
                                                  Diagnostics& diagnostics) {
  WeightSearch search(best, limits, yardstick);
  if (!search.start()) {
    DEUTERON_CHECK(diagnostics.has_errors());  // size_of says why
    return std::nullopt;
  }
  search.climb();
  search.go_on();
  const WeightDecision decision = search.decision();
  best = search.chosen();
  return decision;
}

}  // namespace deuteron

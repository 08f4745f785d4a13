// SPDX-License-Identifier: Apache-2.0
#include "compile/quantize/precision_search.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "compile/quantize/candidate.h"
#include "compile/quantize/quantization_clusters.h"
#include "compile/quantize/round_weights.h"
#include "ops/families.h"
#include "ops/int16.h"

namespace deuteron {

namespace {

constexpr double kNothing = 0.01;  // dB: less is chance

using Layers = std::map<NodeId, LayerPrecision>;  // of the float graph, that are not int8

struct Choice {
  Layers layers;
  Score score;
  ProgramSize size;
};

class PrecisionSearch {
 public:
  PrecisionSearch(const QuantizationCandidate& int8, const MixedPrecision& limits,
                  Yardstick& yardstick)
      : int8_(int8),
        limits_(limits),
        yardstick_(yardstick),
        g_(*int8.graph),
        tries_left_(yardstick.most_tries()) {
    find_layers();
    find_moves();
  }

  const Choice* int8() { return try_layers({}); }
  const Choice* everywhere() { return try_layers(everything()); }

  bool is_within(const Choice& c) {
    if (!limits_.max_cost) return true;
    // of decimals such as 0.1: a limit that is met to the instruction is met
    constexpr double kRounding = 1e-9;
    const double most = static_cast<double>(int8()->size.instructions) * (1 + *limits_.max_cost);
    return static_cast<double>(c.size.instructions) <= most * (1 + kRounding);
  }
  bool is_enough(const Choice& c) const {
    return limits_.target_db && c.score.sqnr_db >= *limits_.target_db;
  }

  // Move by move: by what it gains for its instructions, or by what it gains.
  void climb(bool for_its_cost) {
    const Choice* at = int8();
    while (at && !is_enough(*at)) {
      const Choice* next = nullptr;
      double most = 0;
      for (const Layers& move : moves_) {
        const Layers more = with(at->layers, move);
        if (more == at->layers) continue;
        const Choice* c = try_layers(more);
        if (!c || !is_within(*c)) continue;
        const double gain = c->score.steady_value() - at->score.steady_value();
        if (gain < kNothing) continue;
        const double instructions =
            static_cast<double>(std::max<i64>(1, c->size.instructions - at->size.instructions));
        const double worth = for_its_cost ? gain / instructions : gain;
        if (worth > most) most = worth, next = c;
      }
      at = next;
    }
  }

  // Layers that the best one can do without, and layers that others do better than: until no
  // exchange of two helps.
  void exchange() {
    for (const Choice* at = best(); at;) {
      const Choice* better = nullptr;
      for (const auto& [out, precision] : at->layers) {
        Layers fewer = at->layers;
        fewer.erase(out);
        better = better_of(better, *at, fewer);
        for (const Layers& move : moves_)
          if (const Layers other = with(fewer, move); other != at->layers)
            better = better_of(better, *at, other);
      }
      at = better;
    }
  }

  // Of all that was tried and costs no more than it may.
  const Choice* best() {
    const Choice* found = int8();
    for (const auto& [layers, c] : tried_)
      if (c && is_within(*c) && is_better(*c, *found)) found = &*c;
    return found;
  }

  std::vector<const Choice*> curve() {
    std::vector<const Choice*> all, kept;
    for (const auto& [layers, c] : tried_)
      if (c && c->size.instructions >= int8()->size.instructions) all.push_back(&*c);
    std::ranges::sort(all, [](const Choice* a, const Choice* b) {
      return a->size.instructions != b->size.instructions
                 ? a->size.instructions < b->size.instructions
                 : a->score.steady_value() > b->score.steady_value();
    });
    kept.push_back(int8());
    for (const Choice* c : all)
      if (c->score.steady_value() > kept.back()->score.steady_value() + kNothing) kept.push_back(c);
    return kept;
  }

  QuantizationCandidate candidate(const Choice& c) const {
    QuantizationCandidate made = int8_;
    made.score = c.score;
    made.options.precision_of = [results = results_of(c.layers)](const Graph&, const Node& n) {
      const auto known = results.find(n.outputs[0]);
      return known == results.end() ? LayerPrecision::int8 : known->second;
    };
    return made;
  }
  // Everything that would have been taken, had it been the best.
  std::vector<const Choice*> within() {
    std::vector<const Choice*> all;
    for (const auto& [layers, c] : tried_)
      if (c && is_within(*c)) all.push_back(&*c);
    return all;
  }

  PrecisionChoice described(const Choice& c) const {
    PrecisionChoice d{{}, c.score.sqnr_db, c.score.steady_value(), c.size};
    for (const auto& [n, precision] : c.layers)
      d.layers.push_back(describe(g_, node(n)) +
                         (precision == LayerPrecision::int16_result ? " (its result)" : ""));
    return d;
  }

 private:
  const Node& node(NodeId n) const { return g_.nodes[static_cast<size_t>(n)]; }
  bool has_result(NodeId n) const { return !int16_result_quant_specs(node(n).op).empty(); }
  bool is_layer(NodeId n) const { return std::ranges::binary_search(layers_, n); }
  Layers everything() const {
    Layers all;
    for (const NodeId n : layers_) all[n] = LayerPrecision::int16;
    return all;
  }
  static Layers with(Layers layers, const Layers& move) {
    for (const auto& [n, precision] : move) layers[n] = precision;
    return layers;
  }

  void find_layers() {
    Diagnostics silent;
    const QuantizationPlan plan = plan_quantization(g_, int8_.options, silent);
    for (size_t n = 0; n < g_.nodes.size(); ++n) {
      const Op& op = g_.nodes[n].op;
      const bool has_form = !int16_quant_specs(op).empty();
      if (plan.quantized[n] && !is_same_storage(op) && !is_lowered(op) &&
          (has_form || limits_.may_use_float))
        layers_.push_back(static_cast<NodeId>(n));
    }
  }

  // Who reads a value, behind views of it.
  void readers_of(const Uses& uses, ValueId v, std::vector<NodeId>& found) const {
    for (const NodeId n : uses.readers[v]) {
      if (is_same_storage(g_.nodes[n].op)) readers_of(uses, g_.nodes[n].outputs[0], found);
      else if (is_layer(n)) found.push_back(n);
    }
  }
  // Who makes its operands, behind views of them, and can make them int16 of int8.
  std::vector<NodeId> makers_of(const Uses& uses, NodeId n) const {
    std::vector<NodeId> found;
    for (const ValueId v : node(n).inputs) {
      NodeId maker = uses.producer[v];
      while (maker >= 0 && is_same_storage(node(maker).op))
        maker = uses.producer[node(maker).inputs[0]];
      if (maker >= 0 && is_layer(maker) && has_result(maker)) found.push_back(maker);
    }
    return found;
  }

  // A layer alone, a layer with one that reads its result, and with all of them: a value is finer
  // where who makes and who reads it agree. And a layer with those that make its operands, on int8
  // with int16 results.
  void find_moves() {
    const Uses uses(g_);
    std::set<Layers> known;
    const auto add = [&](Layers move) {
      if (known.insert(move).second) moves_.push_back(std::move(move));
    };
    using enum LayerPrecision;
    Layers sums;  // everything that adds two values, and who makes them
    for (const NodeId n : layers_) {
      Layers move{{n, int16}};
      add(move);
      const std::vector<NodeId> makers = makers_of(uses, n);
      for (const NodeId maker : makers) move.try_emplace(maker, int16_result);
      if (makers.size() > 1) sums.insert(move.begin(), move.end());
      add(std::move(move));
    }
    add(std::move(sums));
    for (const NodeId n : layers_) {
      std::vector<NodeId> readers;
      readers_of(uses, node(n).outputs[0], readers);
      for (const LayerPrecision own : {int16, int16_result}) {
        if (own == int16_result && !has_result(n)) continue;
        add({{n, own}});
        Layers all{{n, own}};
        for (const NodeId reader : readers)
          add({{n, own}, {reader, int16}}), all.try_emplace(reader, int16);
        add(std::move(all));
      }
    }
  }

  std::map<ValueId, LayerPrecision> results_of(const Layers& layers) const {
    std::map<ValueId, LayerPrecision> results;
    for (const auto& [n, precision] : layers) results[node(n).outputs[0]] = precision;
    return results;
  }

  // Null: its cost is not known, or there is no time left.
  const Choice* try_layers(const Layers& layers) {
    const auto [at, is_new] = tried_.try_emplace(layers);
    std::optional<Choice>& choice = at->second;
    if (!is_new || tries_left_ <= 0) return choice ? &*choice : nullptr;
    --tries_left_;
    choice = Choice{layers, int8_.score, {}};
    QuantizationCandidate c = candidate(*choice);
    const std::optional<ProgramSize> size = limits_.size_of(sized_on_all(c));
    if (!size) {
      choice.reset();
      return nullptr;
    }
    choice->size = *size;
    const bool is_asked = layers.empty() || layers == everything() || is_within(*choice);
    if (!layers.empty() && is_asked) measure(c, yardstick_), choice->score = c.score;
    if (!is_asked) choice.reset();  // too dear to be simulated
    return choice ? &*choice : nullptr;
  }

  bool is_better(const Choice& a, const Choice& b) const {
    const bool reaches = is_enough(a), other = is_enough(b);
    if (limits_.target_db && reaches && other) return a.size.instructions < b.size.instructions;
    if (limits_.target_db && reaches != other) return reaches;
    return a.score.steady_value() > b.score.steady_value();
  }
  const Choice* better_of(const Choice* best, const Choice& than, const Layers& layers) {
    const Choice* c = try_layers(layers);
    return c && is_within(*c) && is_better(*c, best ? *best : than) ? c : best;
  }

  const QuantizationCandidate& int8_;
  const MixedPrecision& limits_;
  Yardstick& yardstick_;
  const Graph& g_;
  std::vector<NodeId> layers_;  // that have an int16 form, ascending
  std::vector<Layers> moves_;
  std::map<Layers, std::optional<Choice>> tried_;
  i64 tries_left_;
};

PrecisionDecision decision_for(PrecisionSearch& search, const MixedPrecision& limits,
                               const Choice* chosen) {
  PrecisionDecision decision;
  decision.max_cost = limits.max_cost, decision.target_db = limits.target_db;
  bool is_on_curve = false;
  for (const Choice* c : search.curve()) {
    if (c == chosen) is_on_curve = true, decision.chosen = decision.curve.size();
    decision.curve.push_back(search.described(*c));
  }
  if (!is_on_curve) {  // the cheapest that reaches the target
    const auto at =
        std::ranges::upper_bound(decision.curve, chosen->size.instructions, {},
                                 [](const PrecisionChoice& c) { return c.size.instructions; });
    decision.chosen = static_cast<size_t>(at - decision.curve.begin());
    decision.curve.insert(at, search.described(*chosen));
  }
  return decision;
}

}  // namespace

std::optional<PrecisionDecision> choose_precision(QuantizationCandidate& best,
                                                  const MixedPrecision& limits,
                                                  Yardstick& yardstick,
                                                  std::vector<QuantizationCandidate>& measured,
                                                  Diagnostics& diagnostics) {
  if (best.weights) {
    std::vector<LayerMoments> by_part;
    for (i32 part = 0; part < yardstick.parts(); ++part)
      by_part.push_back(best.weights->without(part));
    best.moments = std::make_shared<const std::vector<LayerMoments>>(std::move(by_part));
    best.options.rounded = std::make_shared<RoundedWeights>();
  }
  PrecisionSearch search(best, limits, yardstick);
  if (!search.int8()) {
    if (diagnostics.has_errors()) return std::nullopt;  // it has no program
    diagnostics.error(
        best.graph->name,
        "the target has no cost model for the program, so nothing says what a layer in int16 costs",
        "precision.cost",
        "name a target with [cpu.cost] (docs/cpu-cost.md), or the layers (--layer NAME=int16)");
    return std::nullopt;
  }
  const Choice* everywhere = search.everywhere();
  search.climb(true);
  search.climb(false);
  search.exchange();
  const Choice* chosen = search.best();
  if (limits.target_db && !search.is_enough(*chosen)) {
    diagnostics.add(
        {Severity::error, best.graph->name,
         fmt::format(
             "no choice of int16 layers{} reaches what mixed:db asks for, on samples that it was "
             "not calibrated on",
             limits.max_cost ? fmt::format(" within cost={:g}%", 100 * *limits.max_cost) : ""),
         fmt::format("{:.1f} dB", chosen->score.sqnr_db),
         fmt::format("{:.1f} dB", *limits.target_db), "precision.target",
         limits.max_cost ? "allow a higher cost, or fewer dB"
                         : "ask for fewer dB, or calibrate with more samples"});
    return std::nullopt;
  }
  PrecisionDecision decision = decision_for(search, limits, chosen);
  if (everywhere) decision.int16_everywhere = search.described(*everywhere);
  best = search.candidate(*chosen);
  best.moments = nullptr, best.options.rounded = nullptr;  // they belong to these parts
  measured.push_back(best);
  if (!limits.target_db)
    for (const Choice* c : search.within()) {
      measured.push_back(search.candidate(*c));
      measured.back().moments = nullptr, measured.back().options.rounded = nullptr;
    }
  return decision;
}

}  // namespace deuteron

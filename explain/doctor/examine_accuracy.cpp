// SPDX-License-Identifier: Apache-2.0
// What makes the program inaccurate, as far as the samples show it.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "compile/calibrate/calibrate.h"
#include "compile/lower/portable_calls.h"
#include "compile/schedule/memories.h"
#include "explain/doctor/doctor.h"
#include "explain/report/numbers.h"
#include "ir/source_names.h"
#include "ops/families.h"

namespace deuteron {
namespace {

constexpr i64 kEnoughSamples = 32;
constexpr double kGoodDb = 30;  // of the outputs: from there on nothing is told of accuracy
constexpr double kLossDb = 6;   // of a value, below what it was made of: half of its precision
// the largest channel to the median: four of eight bits are left
constexpr double kOutlierRatio = 16;
constexpr double kLeastGainDb = 0.5;  // by more samples
constexpr i64 kLeastDead = 50;        // one filter of so many
constexpr size_t kMostTold = 3;       // operators, of a kind

bool is_good(const Patient& p) { return p.accuracy && p.accuracy->sqnr_db >= kGoodDb; }

void data(const Patient& p, std::vector<Finding>& findings) {
  const QuantizationDecisions& q = p.compilation.quantization;
  if (p.made_up_samples)
    findings.push_back(finding_of(FindingKind::no_data, "there is no calibration data", {}, -1,
                                  "not known without data"));
  const auto count = static_cast<i64>(p.samples.size());
  if (p.made_up_samples || q.model_was_quantized || count == 0 || count >= kEnoughSamples) return;
  const bool known = q.held_out && p.accuracy && std::isfinite(p.accuracy->sqnr_db);
  const double cost = known ? std::max(0.0, p.accuracy->sqnr_db - q.held_out->db) : -1;
  if (known && cost < kLeastGainDb) return;
  findings.push_back(finding_of(
      FindingKind::few_samples,
      fmt::format("the ranges were chosen on {} sample{}", count, count == 1 ? "" : "s"), {}, cost,
      known ? fmt::format("{:.1f} dB: {:.1f} dB on these samples, about {:.1f} dB on others "
                          "(cross-validation)",
                          cost, p.accuracy->sqnr_db, q.held_out->db)
            : std::string("not known: too few samples for cross-validation")));
}

struct Loss {
  const LayerError* layer;
  double db, before;
};

// What an operator loses beyond the worst of what it reads. The reach of an operator: values of the
// program that hold one of its inputs.
std::vector<Loss> losses_of(const Compilation& c, const std::vector<LayerError>& layers) {
  std::vector<Loss> losses;
  for (const LayerError& layer : layers) {
    double before = std::numeric_limits<double>::infinity();
    for (const i32 id : layer.origin) {
      if (id >= static_cast<i32>(c.user.size())) continue;
      for (const i32 input : c.user[static_cast<size_t>(id)].inputs) {
        if (std::ranges::binary_search(layer.origin, input)) continue;
        for (const LayerError& other : layers)
          if (&other != &layer && std::ranges::binary_search(other.origin, input))
            before = std::min(before, other.sqnr_db);
      }
    }
    if (std::isfinite(before) && std::isfinite(layer.sqnr_db) && before - layer.sqnr_db >= kLossDb)
      losses.push_back({&layer, before - layer.sqnr_db, before});
  }
  std::ranges::stable_sort(losses, std::greater<>(), &Loss::db);
  return losses;
}

// "--layer conv2d_7=int16": the operator by its name in the model; empty: there is no int16, or it
// has no name.
std::string int16_layer_of(const Patient& p, const Origin& origin) {
  const Graph& g = p.compilation.graph;
  const Origin own = users_own(g, origin);
  if (p.target.npu || p.target.options.is_for_stock() ||
      p.compilation.quantization.model_was_quantized || own.empty())
    return "";
  return fmt::format("--layer {}=int16", g.sources[own.front()].name);
}

void operators(const Patient& p, std::vector<Finding>& findings) {
  const Compilation& c = p.compilation;
  if (calls_npu(c.graph)) return;  // what never leaves a call of the NPU is `compare`'s
  const std::vector<LayerError> layers = compare_layers(c, p.samples, p.threads);
  const std::vector<Loss> losses = losses_of(c, layers);
  for (size_t k = 0; k < std::min(kMostTold, losses.size()); ++k) {
    const Loss& l = losses[k];
    if (why_in_float(c.quantization.in_float, l.layer->origin))
      continue;  // two numbers that are nearly equal: no steps help
    const std::string clipped =
        l.layer->clipped >= 0.001
            ? fmt::format("; {:.1f} % of its elements are clipped", 100 * l.layer->clipped)
            : "";
    Finding f = finding_of(
        FindingKind::lossy_operator, fmt::format("{} loses precision{}", l.layer->op, clipped),
        {place_of(c.graph, l.layer->origin)}, l.db,
        fmt::format("{:.1f} dB: {:.1f} dB from {:.1f} dB before (measured on the samples)", l.db,
                    l.layer->sqnr_db, l.before));
    f.attempt = int16_layer_of(p, l.layer->origin);
    findings.push_back(std::move(f));
  }
}

struct Outlier {
  ValueId value;
  NodeId node;
  size_t channel;
  double ratio;
};

void outliers(const Patient& p, std::vector<Finding>& findings) {
  const Graph& g = p.compilation.equalized;
  if (p.compilation.quantization.model_was_quantized || g.nodes.empty()) return;
  Diagnostics ignored;
  const auto seen = observe(g, p.samples, p.threads, ignored);
  if (!seen) return;
  std::vector<Outlier> found;
  for (size_t n = 0; n < g.nodes.size(); ++n) {
    const ValueId v = g.nodes[n].outputs[0];
    const std::vector<float> most = channel_most((*seen)[v]);
    if (!is_layer(g.nodes[n].op) || g.type(v).shape.size() < 3 || most.size() < 4) continue;
    std::vector<float> sorted = most;
    std::ranges::nth_element(sorted,
                             sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2));
    const float median = sorted[sorted.size() / 2];
    const auto largest = std::ranges::max_element(most);
    if (median > 0 && *largest >= kOutlierRatio * median)
      found.push_back({v, static_cast<NodeId>(n), static_cast<size_t>(largest - most.begin()),
                       *largest / median});
  }
  std::ranges::stable_sort(found, std::greater<>(), &Outlier::ratio);
  for (size_t k = 0; k < std::min(kMostTold, found.size()); ++k) {
    const Outlier& o = found[k];
    const double db = 20 * std::log10(o.ratio);
    findings.push_back(
        finding_of(FindingKind::outlier_channel,
                   fmt::format("channel {} reaches {:.0f} times as far as the median channel",
                               o.channel, o.ratio),
                   {place_of(g, g.nodes[o.node].origin)}, db,
                   fmt::format("{:.1f} dB of the other channels: they keep about {:.0f} of 256 "
                               "steps (ranges on the samples)",
                               db, std::max(1.0, 256 / o.ratio))));
  }
}

void low_accuracy(const Patient& p, std::vector<Finding>& findings) {
  Finding f =
      finding_of(FindingKind::low_accuracy, "the outputs are far from those of the float model", {},
                 kGoodDb - p.accuracy->sqnr_db,
                 fmt::format("{:.1f} dB below {:.0f} dB: {:.1f} dB over {} samples (measured)",
                             kGoodDb - p.accuracy->sqnr_db, kGoodDb, p.accuracy->sqnr_db,
                             p.accuracy->samples));
  if (p.target.npu || p.target.options.is_for_stock()) {  // there is no int16
    f.attempt.clear();
    f.change = "train a little longer with fake quantization (QAT), and export the quantized model";
  }
  findings.push_back(std::move(f));
}

// They cost nothing, for the program does without them, but they were meant to do something.
void dead_filters(const Patient& p, std::vector<Finding>& findings) {
  const Slimming& s = p.compilation.slimming;
  const SlimmedFilters all = slimmed_filters(s);
  if (all.constant == 0 || all.constant * kLeastDead < s.filters) return;
  std::vector<FindingPlace> where;
  for (const SlimmedValue& v : s.values) {
    if (!v.is_layer || v.constant == 0) continue;
    where.push_back(place_of(p.compilation.graph, v.origin));
    where.back().name += fmt::format(", {} of {}", grouped(v.constant), grouped(v.channels));
  }
  findings.push_back(
      finding_of(FindingKind::dead_filters, "filters that give one number whatever the input is",
                 std::move(where), -1,
                 fmt::format("{} of {} filters (proved for any input); {} are not computed",
                             grouped(all.constant), grouped(s.filters), grouped(all.left_out))));
}

}  // namespace

void examine_accuracy(const Patient& p, std::vector<Finding>& findings) {
  data(p, findings);
  if (!p.made_up_samples || p.compilation.quantization.model_was_quantized)
    dead_filters(p, findings);
  if (p.made_up_samples || p.samples.empty()) return;
  outliers(p, findings);
  if (is_good(p) || !p.accuracy || std::isinf(p.accuracy->sqnr_db)) return;
  const auto is_of_answers = [](const Finding& f) {
    return f.concern == Concern::answers;
  };  // they say it already
  if (std::ranges::none_of(findings, is_of_answers)) low_accuracy(p, findings);
  operators(p, findings);
}

}  // namespace deuteron

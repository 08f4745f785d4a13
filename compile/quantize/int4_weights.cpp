// SPDX-License-Identifier: Apache-2.0
#include "compile/quantize/int4_weights.h"

#include <algorithm>
#include <cmath>

#include "compile/calibrate/calibrate.h"
#include "ops/families.h"

namespace deuteron {

namespace {

constexpr i32 kHighest = 15 - kMiddle;
// Scales that are tried, of the one that the largest weight asks for: what few large weights lose,
// all others gain.
constexpr double kSmaller[] = {1, 0.95, 0.9, 0.85, 0.8, 0.75, 0.7, 0.65, 0.6, 0.55, 0.5};

// How much an error of each term of a filter counts.
std::vector<double> importance(i64 terms, const InputMoments* m) {
  std::vector<double> all(static_cast<size_t>(terms), 1.0);
  if (!m || m->empty()) return all;
  const double count = static_cast<double>(m->windows);
  double mean = 0;
  for (i64 t = 0; t < terms; ++t) {
    const double average = m->sum[t] / count;
    all[t] = std::max(m->products[t * terms + t] / count - average * average, 0.0);
    mean += all[t] / static_cast<double>(terms);
  }
  for (double& v : all) v = mean > 0 ? v + kMomentsDamping * mean : 1.0;
  return all;
}

bool has_runs(const Shape& shape, i64 terms) {
  return terms == shape.back() || shape.back() % Int4Factors::kRunLength == 0;
}

double error_of(std::span<const float> weight, std::span<const double> counts, double step,
                Int4Range range) {
  double sum = 0;
  for (size_t t = 0; t < weight.size(); ++t) {
    const double error = weight[t] - range.nearest(weight[t] / step) * step;
    sum += counts[t] * error * error;
  }
  return sum;
}

struct Run {
  i32 factor = 1;
  double error = 0;
};
// Factors that cut off more than half of the largest weight are not looked at.
Run best_factor(std::span<const float> weight, std::span<const double> counts, double scale) {
  double most = 0;
  for (const float w : weight) most = std::max(most, std::abs(static_cast<double>(w)));
  const auto whole = static_cast<i32>(
      std::clamp(std::ceil(most / (scale * kHighest)), 1.0, static_cast<double>(kMostFactor)));
  Run best{whole, error_of(weight, counts, scale * whole, int4_range(whole))};
  for (i32 factor = whole - 1; factor >= std::max(whole / 2, 1); --factor)
    if (const double error = error_of(weight, counts, scale * factor, int4_range(factor));
        error < best.error)
      best = {factor, error};
  return best;
}

template <class Each>
void for_each_run(i64 terms, const Each& each) {
  for (i64 first = 0; first < terms; first += Int4Factors::kRunLength)
    each(first, std::min(Int4Factors::kRunLength, terms - first));
}

}  // namespace

Int4Range int4_range(i32 factor) { return {std::max(-kMiddle, -(127 / factor)), kHighest}; }

bool has_int4_form(const Graph& g, const Node& node) {
  if (is_lowered(node.op) || !is_layer(node.op) || node.inputs.size() < 2) return false;
  if (g.is_constant(node.inputs[0]) || !g.is_constant(node.inputs[1])) return false;
  const Type &x = g.type(node.inputs[0]), &weight = g.type(node.inputs[1]);
  const Type* const types[] = {&x, &weight};
  if (weight.shape.size() != 2 && !window_of(node.op, TypeView(types))) return false;
  return weight.elements() > 0 && x.shape.back() == weight.shape.back();
}

Quant int4_weight_quant(std::span<const float> weight, const Shape& shape,
                        const InputMoments* moments) {
  const i64 filters = shape[0], terms = static_cast<i64>(weight.size()) / filters;
  const std::vector<double> counts = importance(terms, moments);
  const bool runs = has_runs(shape, terms);
  Quant q = weight_quant(weight, shape, 0, -127, 127);
  for (i64 filter = 0; filter < filters; ++filter) {
    const auto own =
        weight.subspan(static_cast<size_t>(filter * terms), static_cast<size_t>(terms));
    const double whole =
        static_cast<double>(q.scale[filter]) * 127 / kHighest / (runs ? kMostFactor : 1);
    double least = -1, best = whole;
    for (const double smaller : kSmaller) {
      const double scale = whole * smaller;
      double error = 0;
      if (!runs) error = error_of(own, counts, scale, int4_range(1));
      else
        for_each_run(terms, [&](i64 first, i64 count) {
          error +=
              best_factor(own.subspan(first, count), std::span(counts).subspan(first, count), scale)
                  .error;
        });
      if (least < 0 || error < least) least = error, best = scale;
    }
    q.scale[filter] = std::max(static_cast<float>(best), kLeastScale);
  }
  return q;
}

Int4Factors int4_factors(std::span<const float> weight, const Shape& shape, const Quant& q,
                         const InputMoments* moments) {
  Int4Factors f;
  const i64 filters = shape[0];
  f.terms = static_cast<i64>(weight.size()) / filters;
  f.factor.assign(static_cast<size_t>(filters * f.runs()), 1);
  if (!has_runs(shape, f.terms)) return f;
  const std::vector<double> counts = importance(f.terms, moments);
  for (i64 filter = 0; filter < filters; ++filter)
    for_each_run(f.terms, [&](i64 first, i64 count) {
      const auto run =
          weight.subspan(static_cast<size_t>(filter * f.terms + first), static_cast<size_t>(count));
      const Run best = best_factor(run, std::span(counts).subspan(first, count), q.scale[filter]);
      f.factor[filter * f.runs() + first / Int4Factors::kRunLength] =
          static_cast<int8_t>(best.factor);
    });
  return f;
}

std::vector<int8_t> round_to_int4(std::span<const float> weight, const Quant& q,
                                  const Int4Factors& f) {
  std::vector<int8_t> rounded(weight.size());
  for (size_t at = 0; at < weight.size(); ++at) {
    const i64 filter = static_cast<i64>(at) / f.terms;
    const i32 factor = f.of(filter, static_cast<i64>(at) % f.terms);
    rounded[at] = static_cast<int8_t>(
        int4_range(factor).nearest(weight[at] / (static_cast<double>(q.scale[filter]) * factor)) *
        factor);
  }
  return rounded;
}

}  // namespace deuteron

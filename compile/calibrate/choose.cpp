// SPDX-License-Identifier: Apache-2.0
// The range of an activation: as seen, or the one with the lowest expected squared error.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "compile/calibrate/calibrate.h"

namespace deuteron {

namespace {

// A value that is always zero is exact at any scale; this one keeps a bias behind it within int32
// and fine enough.
constexpr float kScaleOfNothing = 0x1p-10f;

struct Grid {
  float scale;
  i32 zero_point;
};

// Scale and zero point as PT2E computes them, in float32. low <= 0 <= high.
Grid grid_of(double low, double high, bool symmetric, i32 q_low, i32 q_high) {
  if (low == 0 && high == 0) return {kScaleOfNothing, symmetric ? 0 : std::clamp(0, q_low, q_high)};
  const float steps = static_cast<float>(q_high - q_low);
  if (symmetric)
    return {std::max(static_cast<float>(std::max(-low, high)) / (steps / 2), kLeastScale), 0};
  const float span = static_cast<float>(high) - static_cast<float>(low);
  const float scale = std::max(
      std::isfinite(span) ? span / steps : static_cast<float>((high - low) / steps), kLeastScale);
  const float zero = static_cast<float>(q_low) - std::nearbyint(static_cast<float>(low) / scale);
  return {scale, static_cast<i32>(
                     std::clamp(zero, static_cast<float>(q_low), static_cast<float>(q_high)))};
}

// The density of a histogram, even within a bin, in units of bins: position p stands for low + p *
// width. Sums of p^0, p^1, p^2 up to any position cost a look-up.
class Density {
 public:
  Density(const Observation& o)
      : low_(o.low),
        width_((static_cast<double>(o.high) - o.low) / static_cast<double>(o.bins.size())),
        bins_(o.bins.counts()) {
    sums_.reserve(bins_.size() + 1);
    sums_.push_back({});
    for (size_t b = 0; b < bins_.size(); ++b) {  // of few samples most are empty
      const auto at = static_cast<double>(b);
      sums_.push_back(bins_[b] == 0 ? sums_[b] : plus(sums_[b], part(b, at, at + 1)));
    }
  }
  bool is_point() const { return !(width_ > 0); }
  double position_of(double x) const { return (x - low_) / width_; }
  double total() const { return sums_.back()[0]; }

  // Mean squared error in real units. One that is not below `most` may be anything that is not
  // either: most candidates for a range cut off so much at the first step that no other needs a
  // look.
  double error(const Grid& grid, i32 q_low, i32 q_high,
               double most = std::numeric_limits<double>::infinity()) const {
    const double step = grid.scale / width_, zero = position_of(0.0);
    const double last = static_cast<double>(bins_.size());
    double total_error = 0;
    Sums before{};
    double level = zero + (q_low - grid.zero_point) * step;
    const auto in_real_units = [&] { return total_error * width_ * width_ / total(); };
    for (i32 q = q_low; q <= q_high; ++q, level += step) {
      if ((q - q_low) % 8 == 1 && in_real_units() >= most)
        break;  // no step takes any of it away again
      const double end = level + step / 2;
      const bool done = q == q_high || end >= last;
      if (!done && end <= 0) continue;
      const Sums upto = done ? sums_.back() : at(end);
      const double n = upto[0] - before[0], m = upto[1] - before[1], s = upto[2] - before[2];
      total_error += std::max(0.0, s - 2 * level * m + level * level * n);
      if (done) break;
      before = upto;
    }
    return in_real_units();
  }

 private:
  using Sums = std::array<double, 3>;
  static Sums plus(const Sums& a, const Sums& b) { return {a[0] + b[0], a[1] + b[1], a[2] + b[2]}; }
  Sums part(size_t bin, double from, double to) const {
    const double n = static_cast<double>(bins_[bin]);
    return {n * (to - from), n * (to * to - from * from) / 2,
            n * (to * to * to - from * from * from) / 3};
  }
  Sums at(double p) const {
    const size_t bin = std::min(static_cast<size_t>(p), bins_.size() - 1);
    return plus(sums_[bin], part(bin, static_cast<double>(bin), p));
  }

  double low_, width_;
  std::vector<i64> bins_;
  std::vector<Sums> sums_;
};

double point_error(double x, const Grid& grid, i32 q_low, i32 q_high) {
  const i32 q = quantize_value(static_cast<float>(x), grid.scale, grid.zero_point, q_low, q_high);
  const double y = static_cast<double>(grid.scale) * (static_cast<double>(q) - grid.zero_point);
  return (x - y) * (x - y);
}

// So many steps that cutting values off gains nothing, and the error is that of rounding what is
// even between two steps.
bool is_wide(i32 q_low, i32 q_high) { return q_high - q_low > 255; }
double error_of_rounding(float scale) { return static_cast<double>(scale) * scale / 12; }

struct Candidate {
  double low, high, error;
};

}  // namespace

ActivationQuant choose(const Observation& o, Observer observer, bool symmetric, i32 q_low,
                       i32 q_high) {
  const double low = std::min(0.0f, o.low), high = std::max(0.0f, o.high);
  const Grid all = grid_of(low, high, symmetric, q_low, q_high);
  const auto chosen = [&](const Grid& g, double error) {
    return ActivationQuant{g.scale, g.zero_point, observer, error};
  };
  if (o.bins.empty()) return chosen(all, 0);
  const Density density(o);
  if (density.is_point() || density.total() <= 0)
    return chosen(all, point_error(o.low, all, q_low, q_high));
  if (is_wide(q_low, q_high)) return chosen(all, error_of_rounding(all.scale));
  Candidate best{low, high,
                 density.error(grid_of(low, high, symmetric, q_low, q_high), q_low, q_high)};
  if (observer == Observer::min_max) return chosen(all, best.error);

  // Both ends are fractions of what was seen. A coarse grid first, then ever finer ones around the
  // best.
  constexpr int kCoarse = 16, kFine = 2, kRounds = 5;
  const bool lower = low < 0 && !symmetric, upper = high > 0 && !symmetric;
  const auto try_range = [&](double a, double b) {
    a = std::clamp(a, low, 0.0);
    b = std::clamp(b, 0.0, high);
    if (a == 0 && b == 0) return;
    const double error =
        density.error(grid_of(a, b, symmetric, q_low, q_high), q_low, q_high, best.error);
    if (error < best.error) best = {a, b, error};
  };
  if (symmetric) {
    for (int i = 1; i <= 4 * kCoarse; ++i)
      try_range(low * i / (4 * kCoarse), high * i / (4 * kCoarse));
    double step = 1.0 / (4 * kCoarse);
    for (int round = 0; round < kRounds; ++round, step /= 2) {
      const Candidate around = best;
      const double fraction = low < 0 ? around.low / low : around.high / high;
      for (const double f : {fraction - step / 2, fraction + step / 2})
        if (f > 0) try_range(low * f, high * f);
    }
    return chosen(grid_of(best.low, best.high, symmetric, q_low, q_high), best.error);
  }
  const int low_steps = lower ? kCoarse : 0, high_steps = upper ? kCoarse : 0;
  for (int i = 0; i <= low_steps; ++i)
    for (int j = 0; j <= high_steps; ++j)
      try_range(lower ? low * i / kCoarse : low, upper ? high * j / kCoarse : high);
  double low_step = lower ? low / kCoarse / kFine : 0,
         high_step = upper ? high / kCoarse / kFine : 0;
  for (int round = 0; round < kRounds; ++round, low_step /= kFine, high_step /= kFine) {
    const Candidate around = best;
    for (int i = lower ? -kFine : 0; i <= (lower ? kFine : 0); ++i)
      for (int j = upper ? -kFine : 0; j <= (upper ? kFine : 0); ++j)
        if (i != 0 || j != 0) try_range(around.low + i * low_step, around.high + j * high_step);
  }
  return chosen(grid_of(best.low, best.high, symmetric, q_low, q_high), best.error);
}

std::optional<ActivationQuant> choose(const ByteGrid& grid, bool symmetric, i32 q_low) {
  const i32 zero_point = q_low - static_cast<i32>(std::lround(grid.low / grid.step));
  if (symmetric && zero_point != 0) return std::nullopt;
  return ActivationQuant{grid.step, zero_point, Observer::min_max, 0};
}

ActivationQuant widened(const ActivationQuant& q, const RangeFactors& factors, bool symmetric,
                        i32 q_low, i32 q_high) {
  // a range that is widened may leave float32
  constexpr double kMost = std::numeric_limits<float>::max();
  const auto end = [&](i32 step, double factor) {
    return std::clamp(static_cast<double>(q.scale) * (step - q.zero_point) * factor, -kMost, kMost);
  };
  const double low = std::min(0.0, end(q_low, factors.low)),
               high = std::max(0.0, end(q_high, factors.high));
  const Grid grid =
      grid_of(static_cast<float>(low), static_cast<float>(high), symmetric, q_low, q_high);
  return {grid.scale, grid.zero_point, q.observer, q.mean_squared_error};
}

double mean_squared_error(const Observation& o, float scale, i32 zero_point, i32 q_low,
                          i32 q_high) {
  if (o.bins.empty()) return 0;
  const Density density(o);
  if (density.is_point() || density.total() <= 0)
    return point_error(o.low, {scale, zero_point}, q_low, q_high);
  return is_wide(q_low, q_high) ? error_of_rounding(scale)
                                : density.error({scale, zero_point}, q_low, q_high);
}

double sqnr_db(std::span<const float> reference, std::span<const float> value) {
  DEUTERON_CHECK(reference.size() == value.size());
  double signal = 0, noise = 0;
  for (size_t i = 0; i < reference.size(); ++i) {
    const double error = static_cast<double>(reference[i]) - value[i];
    signal += static_cast<double>(reference[i]) * reference[i];
    noise += error * error;
  }
  return noise == 0 ? std::numeric_limits<double>::infinity() : 10 * std::log10(signal / noise);
}

}  // namespace deuteron

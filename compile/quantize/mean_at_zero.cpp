// SPDX-License-Identifier: Apache-2.0
#include "compile/quantize/mean_at_zero.h"

#include <algorithm>
#include <cmath>

#include "ops/pointwise/point_op.h"

namespace deuteron {
namespace {

double width_of(const Observation& seen) {
  return (static_cast<double>(seen.high) - static_cast<double>(seen.low)) /
         static_cast<double>(seen.bins.size());
}

bool has_histogram(const Observation& seen) {
  return seen.seen && !seen.bins.empty() && width_of(seen) > 0;
}

// Of 1: how many were seen below the limit.
double share_below(const Observation& seen, double limit) {
  const std::vector<i64> counts = seen.bins.counts();
  double below = 0, all = 0;
  for (size_t k = 0; k < counts.size(); ++k) {
    const double low = static_cast<double>(seen.low) + width_of(seen) * static_cast<double>(k),
                 count = static_cast<double>(counts[k]);
    below += count * std::clamp((limit - low) / width_of(seen), 0.0, 1.0);
    all += count;
  }
  return all > 0 ? below / all : 0;
}

// The mean of that share of what was seen: the lowest, or the highest.
double mean_of_end(const Observation& seen, double share, bool highest) {
  const std::vector<i64> counts = seen.bins.counts();
  double wanted = 0, sum = 0, taken = 0;
  for (const i64 count : counts) wanted += share * static_cast<double>(count);
  for (size_t k = 0; k < counts.size() && taken < wanted; ++k) {
    const size_t bin = highest ? counts.size() - 1 - k : k;
    const double count = std::min(static_cast<double>(counts[bin]), wanted - taken);
    sum +=
        count * (static_cast<double>(seen.low) + width_of(seen) * (static_cast<double>(bin) + 0.5));
    taken += count;
  }
  return taken > 0 ? sum / taken : 0;
}

// 1: never falls from step to step, -1: never rises; 0: neither.
int direction_of(const PointProgram& f, const Quant& of_x) {
  bool rises = false, falls = false;
  float last = evaluate(f, 0);
  for (i32 q = of_x.zero_point[0] + 1; q <= of_x.high; ++q) {
    const float y = evaluate(f, static_cast<float>(q - of_x.zero_point[0]) * of_x.scale[0]);
    if (std::isnan(y) || std::isnan(last)) return 0;
    rises = rises || y > last, falls = falls || y < last;
    last = y;
  }
  return rises == falls ? 0 : rises ? 1 : -1;
}

// Where in 0..high the function is `y`, which lies between its values at the ends.
float inverse(const PointProgram& f, float high, double y, bool rises) {
  float low = 0;
  for (int k = 0; k < 64; ++k) {
    const float middle = low + (high - low) / 2;
    if ((evaluate(f, middle) < y) == rises) low = middle;
    else high = middle;
  }
  return high;
}

}  // namespace

std::optional<Op> with_mean_at_zero(const Op& op, const Observation& x, const Observation& y,
                                    const Quant& of_x, const Quant& of_y) {
  if (of_x.per_channel() || of_y.per_channel() || of_x.zero_point[0] != of_x.low)
    return std::nullopt;
  if (!has_histogram(x) || !has_histogram(y) || x.low < 0) return std::nullopt;
  const std::optional<PointProgram> f = program_of(op);
  const float half = of_x.scale[0] / 2;
  const double share = share_below(x, half);
  const int direction = f && share > 0 ? direction_of(*f, of_x) : 0;
  if (direction == 0 || f->steps.size() >= kMostPointSteps) return std::nullopt;
  const double mean = mean_of_end(y, share, direction < 0);
  const double lowest = static_cast<double>(of_y.low - of_y.zero_point[0]) * of_y.scale[0],
               highest = static_cast<double>(of_y.high - of_y.zero_point[0]) * of_y.scale[0];
  const double at_zero = std::clamp<double>(evaluate(*f, 0), lowest, highest);
  const double at_half = evaluate(*f, half);
  const bool is_between =
      direction > 0 ? at_zero < mean && mean < at_half : at_half < mean && mean < at_zero;
  if (!is_between || std::abs(at_zero - mean) < of_y.scale[0]) return std::nullopt;
  return bounded_below(*f, inverse(*f, half, mean, direction > 0));
}

}  // namespace deuteron

// SPDX-License-Identifier: Apache-2.0
// Histograms on other ranges than the ones they were counted on.
#include <algorithm>
#include <cmath>

#include "base/tensor/elements.h"
#include "compile/calibrate/calibrate.h"

namespace deuteron {

// Adds the counts of `from` to bins that span low..high evenly; what lies outside goes to the first
// or last bin.
static void add_counts(const Observation& from, double low, double high, std::vector<i64>& bins) {
  const double count = static_cast<double>(bins.size());
  const auto bin_of = [&](double x) {
    return high > low ? std::clamp((x - low) / (high - low) * count, 0.0, count) : 0.0;
  };
  const std::vector<i64> counts = from.bins.counts();
  const double width =
      (static_cast<double>(from.high) - from.low) / static_cast<double>(counts.size());
  for (size_t b = 0; b < counts.size(); ++b) {
    const i64 n = counts[b];
    if (n == 0) continue;
    const double begin = bin_of(from.low + width * static_cast<double>(b)),
                 end = bin_of(from.low + width * static_cast<double>(b + 1));
    const size_t first = std::min(static_cast<size_t>(begin), bins.size() - 1);
    i64 given = 0;
    for (size_t to = first; given < n; ++to) {
      const bool last = to + 1 >= bins.size() || static_cast<double>(to + 1) >= end;
      const double share = last ? 1.0 : (static_cast<double>(to + 1) - begin) / (end - begin);
      const i64 upto = last ? n : std::llround(share * static_cast<double>(n));
      bins[to] += upto - given;
      given = upto;
    }
  }
}

Observation observed_constant(std::span<const float> data) {
  // Together with scores that it is added to, it must come out below all of them. Where 0 is the
  // only other number, steps may be coarse.
  constexpr float kFarBelow = 1e4f, kBelowOthers = 100;
  Observation o;
  bool masks = false, only_zero = true;
  for (const float v : data) {
    if (v < kMaskedBelow) {
      masks = true;
      continue;
    }
    o.low = o.seen ? std::min(o.low, v) : v;
    o.high = o.seen ? std::max(o.high, v) : v;
    o.seen = true;
    only_zero = only_zero && v == 0;
  }
  if (masks) o.low -= only_zero ? kFarBelow : kBelowOthers;
  o.seen = o.seen || masks;
  return o;
}

std::vector<float> channel_most(const Observation& o) {
  std::vector<float> most;
  for (size_t c = 0; c < o.channel_low.size(); ++c)
    most.push_back(std::max(std::abs(o.channel_low[c]), std::abs(o.channel_high[c])));
  return most;
}

Observation merged(std::span<const Observation* const> parts) {
  if (parts.size() == 1) return *parts[0];
  Observation all;
  for (const Observation* part : parts) {
    if (!part->seen) continue;
    all.low = all.seen ? std::min(all.low, part->low) : part->low;
    all.high = all.seen ? std::max(all.high, part->high) : part->high;
    all.seen = true;
  }
  if (!all.seen) return all;
  std::vector<i64> bins(kHistogramBins);
  for (const Observation* part : parts)
    if (part->seen) add_counts(*part, all.low, all.high, bins);
  all.bins = Histogram(bins);
  return all;
}

std::optional<ByteGrid> byte_grid(const Samples& samples, std::span<const size_t> which,
                                  size_t input) {
  constexpr double kNear = 1e-3, kFewestSteps = 64;  // in steps
  for (const ByteGrid& grid : kByteGrids) {
    double least = 255, most = 0;
    const auto lies_on_it = [&](float v) {
      const double at = (static_cast<double>(v) - grid.low) / grid.step;
      least = std::min(least, at), most = std::max(most, at);
      return std::abs(at - std::round(at)) < kNear && at > -kNear && at < 255 + kNear;
    };
    if (std::ranges::all_of(
            which, [&](size_t s) { return std::ranges::all_of(samples[s][input], lies_on_it); }) &&
        most - least >= kFewestSteps)
      return grid;
  }
  return std::nullopt;
}

Observation merged_parts(std::span<const Observation* const> parts, std::span<const i64> samples) {
  Observation all = merged(parts);
  if (parts.size() == 1 || !all.seen) return all;
  std::vector<double> mean;
  double count = 0;
  for (size_t k = 0; k < parts.size(); ++k) {
    const Observation& part = *parts[k];
    if (!part.seen) continue;
    all.bytes = count == 0 || all.bytes == part.bytes ? part.bytes : std::nullopt;
    if (part.lowest_seen)
      all.lowest_seen = std::min(all.lowest_seen.value_or(*part.lowest_seen), *part.lowest_seen);
    mean.resize(part.channel_mean.size());
    if (count == 0) all.channel_low = part.channel_low, all.channel_high = part.channel_high;
    for (size_t c = 0; c < mean.size(); ++c) {
      mean[c] += static_cast<double>(part.channel_mean[c]) * static_cast<double>(samples[k]);
      all.channel_low[c] = std::min(all.channel_low[c], part.channel_low[c]);
      all.channel_high[c] = std::max(all.channel_high[c], part.channel_high[c]);
    }
    count += static_cast<double>(samples[k]);
  }
  for (const double sum : mean) all.channel_mean.push_back(static_cast<float>(sum / count));
  return all;
}

Observation bounded(const Observation& o, float low, float high) {
  if (!o.seen || (low <= o.low && high >= o.high)) return o;
  Observation inner;
  inner.low = std::clamp(o.low, low, high);
  inner.high = std::clamp(o.high, low, high);
  inner.seen = true;
  std::vector<i64> bins(kHistogramBins);
  add_counts(o, inner.low, inner.high, bins);
  inner.bins = Histogram(bins);
  return inner;
}

}  // namespace deuteron

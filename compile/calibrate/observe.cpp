// SPDX-License-Identifier: Apache-2.0
// The two passes over the calibration samples.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <mutex>
#include <utility>

#include "base/tensor/elements.h"
#include "compile/calibrate/calibrate.h"
#include "compile/calibrate/each_sample.h"
#include "compile/calibrate/float_executor.h"
#include "compile/calibrate/shared_out.h"
#include "ops/common/dnn.h"

namespace deuteron {

namespace {

struct Range {
  float low = std::numeric_limits<float>::infinity(),
        high = -std::numeric_limits<float>::infinity();
  bool finite = true;
  bool masked = false;  // minus infinity was seen, which is no part of the range
  float lowest_seen = std::numeric_limits<float>::infinity();

  // Four lanes, so that the compiler can use vectors; the order of a minimum does not matter.
  void widen(std::span<const float> data) {
    see_all(data);
    if (low >= kMaskedBelow || !finite) return;
    std::vector<float> counts;
    std::ranges::copy_if(data, std::back_inserter(counts),
                         [](float v) { return v >= kMaskedBelow; });
    *this = {};
    masked = true;
    see_all(counts);
  }
  void see_all(std::span<const float> data) {
    float lows[4], highs[4], zeros[4] = {};
    std::fill_n(lows, 4, low);
    std::fill_n(highs, 4, high);
    const auto see = [&](size_t lane, float v) {
      lows[lane] = v < lows[lane] ? v : lows[lane];
      highs[lane] = v > highs[lane] ? v : highs[lane];
      zeros[lane] += v * 0.0f;  // NaN once v is infinite or NaN
    };
    size_t i = 0;
    for (; i + 4 <= data.size(); i += 4)
      for (size_t lane = 0; lane < 4; ++lane) see(lane, data[i + lane]);
    for (; i < data.size(); ++i) see(0, data[i]);
    low = std::min({lows[0], lows[1], lows[2], lows[3]});
    high = std::max({highs[0], highs[1], highs[2], highs[3]});
    const float sum = zeros[0] + zeros[1] + zeros[2] + zeros[3];
    finite = finite && sum == 0.0f;
  }
  void widen(const Range& o) {
    low = std::min(low, o.low);
    high = std::max(high, o.high);
    finite = finite && o.finite;
    masked = masked || o.masked;
    lowest_seen = std::min(lowest_seen, o.lowest_seen);
  }
  // The most negative step of what is masked must be far enough below the largest one.
  float lowest() const { return masked ? std::min(low, high - kMaskedDistance) : low; }
};

// The first value of a sample, in execution order, that is not finite.
struct NotFinite {
  size_t sample;
  ValueId value;
  i64 count, elements;
  float first;
};

std::string where_made(const Graph& g, ValueId v) {
  for (const Node& node : g.nodes)
    if (std::ranges::find(node.outputs, v) != node.outputs.end())
      return fmt::format("{}: {}", g.name, describe(g, node));
  for (const Port& port : g.inputs)
    if (port.value == v) return fmt::format("{}: input `{}`", g.name, port.name);
  return g.name;
}

void report(const Graph& g, const std::vector<NotFinite>& faults, size_t samples,
            Diagnostics& diagnostics) {
  const NotFinite& first = *std::ranges::min_element(faults, {}, &NotFinite::sample);
  const bool input =
      std::ranges::any_of(g.inputs, [&](const Port& port) { return port.value == first.value; });
  diagnostics.add({Severity::error, where_made(g, first.value),
                   fmt::format("calibration sample {} {} {} of {} values that are not finite "
                               "(first: {}); {} of {} samples are affected",
                               first.sample, input ? "has" : "makes", first.count, first.elements,
                               first.first, faults.size(), samples),
                   "", "", "calibrate.not_finite",
                   input ? "remove the sample or repair it"
                         : "check the model's weights and the scale of the calibration data"});
}

bool shapes_fit(const Graph& g, const Samples& samples, Diagnostics& diagnostics) {
  bool fit = true;
  for (size_t s = 0; s < samples.size() && fit; ++s) {
    if (samples[s].size() != g.inputs.size()) {
      diagnostics.add(
          {Severity::error, g.name,
           fmt::format("calibration sample {} has another number of inputs than the model", s),
           std::to_string(samples[s].size()), std::to_string(g.inputs.size()), "calibrate.inputs",
           "give one --calibrate for each input"});
      fit = false;
    }
    for (size_t i = 0; i < g.inputs.size() && fit; ++i) {
      const i64 expected = g.type(g.inputs[i].value).elements(),
                found = static_cast<i64>(samples[s][i].size());
      if (found == expected) continue;
      diagnostics.add(
          {Severity::error, fmt::format("{}: input `{}`", g.name, g.inputs[i].name),
           fmt::format("calibration sample {} has another number of elements than the input", s),
           std::to_string(found), std::to_string(expected), "calibrate.elements", ""});
      fit = false;
    }
  }
  return fit;
}

struct Parts {
  std::span<const i32> of;  // by sample
  i32 count;
};

// Values that depend on no input of the model: the executor computes them once and shows them to
// nobody.
template <class See>
std::vector<bool> see_known_values(const Graph& g, const See& see) {
  std::vector<std::vector<float>> known(g.values.size());
  std::vector<bool> is_known(g.values.size(), false);
  for (const Node& node : g.nodes) {
    const auto is_fixed = [&](ValueId v) { return g.is_constant(v) || is_known[v]; };
    if (!std::ranges::all_of(node.inputs, is_fixed)) continue;
    std::vector<HostTensor> in, out;
    for (const ValueId v : node.inputs) {
      if (!is_known[v] && known[v].empty())
        known[v] = numbers_of(g.values[v].constant->bytes.data(), g.type(v));
      in.push_back({&g.type(v), known[v].data()});
    }
    for (const ValueId v : node.outputs) {
      known[v].resize(static_cast<size_t>(g.type(v).elements()));
      is_known[v] = true;
      out.push_back({&g.type(v), known[v].data()});
    }
    execute(node.op, in, out);
    for (const ValueId v : node.outputs) see(v, std::span<const float>(known[v]));
  }
  return is_known;
}

// By part, the ranges of all values; false once something is not finite.
bool observe_ranges(const Graph& g, const FloatExecutor& executor, const Samples& samples,
                    const Parts& parts, int threads, std::vector<std::vector<Range>>& ranges,
                    Diagnostics& diagnostics) {
  const std::vector<std::vector<Range>> nothing(static_cast<size_t>(parts.count),
                                                std::vector<Range>(g.values.size()));
  std::vector<std::vector<std::vector<Range>>> by_worker(static_cast<size_t>(thread_count(threads)),
                                                         nothing);
  std::vector<NotFinite> faults;
  std::mutex mutex;
  const RowsSharedOut shared_out(g);
  for_each_sample(samples.size(), threads, [&](size_t s, int worker) {
    std::vector<Range>& mine = by_worker[worker][parts.of[s]];
    bool reported = false;
    executor.run(stored_inputs(g, samples[s]), [&](ValueId v, std::span<const float> data) {
      if (reported) return;  // what follows is a consequence
      Range seen;
      seen.widen(data);
      if (!seen.finite) {
        const auto bad = [](float x) { return !std::isfinite(x); };
        const std::lock_guard lock(mutex);
        faults.push_back({s, v, std::ranges::count_if(data, bad), static_cast<i64>(data.size()),
                          *std::ranges::find_if(data, bad)});
        reported = true;
      }
      seen.lowest_seen = shared_out.lowest_seen(v, data);
      mine[v].widen(seen);
    });
  });
  if (!faults.empty()) {
    report(g, faults, samples.size(), diagnostics);
    return false;
  }
  ranges = nothing;
  for (size_t part = 0; part < ranges.size(); ++part) {
    for (const auto& worker : by_worker)
      for (size_t v = 0; v < g.values.size(); ++v) ranges[part][v].widen(worker[part][v]);
    see_known_values(g,
                     [&](ValueId v, std::span<const float> data) { ranges[part][v].widen(data); });
  }
  return true;
}

void count(std::span<const float> data, double low, double high, HistogramCounter& counter) {
  const double per_unit = high > low ? kHistogramBins / (high - low) : 0.0;
  const double shift = -low * per_unit;
  counter.count(data.size(), [&](size_t i) {
    // What is masked counts as the least number there is: cutting off the range above it costs
    // something.
    return data[i] < kMaskedBelow
               ? 0
               : std::clamp(static_cast<int>(data[i] * per_unit + shift), 0, kHistogramBins - 1);
  });
}

// By index of the last axis. Means are added up in steps of the value's range / 2^40: sums of
// integers do not depend on the order of samples.
struct Channels {
  static constexpr double kSteps = 0x1p40;
  std::vector<i64> sum;
  std::vector<float> least, most;

  void count(std::span<const float> data, i64 extent, double low, double high) {
    if (extent <= 0 || data.empty() || !(high > low)) return;
    resize(static_cast<size_t>(extent));
    std::vector<double> total(static_cast<size_t>(extent));
    for (size_t at = 0; at < data.size(); at += static_cast<size_t>(extent))
      for (size_t c = 0; c < total.size(); ++c) {
        const float x = std::max(data[at + c], static_cast<float>(low));
        total[c] += x;
        least[c] = std::min(least[c], x);
        most[c] = std::max(most[c], x);
      }
    const double rows = static_cast<double>(data.size()) / static_cast<double>(extent);
    for (size_t c = 0; c < total.size(); ++c)
      sum[c] += std::llround((total[c] / rows - low) / (high - low) * kSteps);
  }
  void add(const Channels& o) {
    if (o.sum.empty()) return;
    resize(o.sum.size());
    for (size_t c = 0; c < sum.size(); ++c) {
      sum[c] += o.sum[c];
      least[c] = std::min(least[c], o.least[c]);
      most[c] = std::max(most[c], o.most[c]);
    }
  }

 private:
  void resize(size_t channels) {
    sum.resize(channels);
    least.resize(channels, std::numeric_limits<float>::infinity());
    most.resize(channels, -std::numeric_limits<float>::infinity());
  }
};

// What one worker counts in the second pass.
struct Counts {
  HistogramCounter bins;
  Channels channels;
};

// The second pass, over the samples of one part, whose ranges are known.
std::vector<Observation> observe_part(const Graph& g, const FloatExecutor& executor,
                                      const Samples& samples, const std::vector<size_t>& which,
                                      int threads, const std::vector<Range>& ranges) {
  std::vector<Observation> result(g.values.size());
  for (size_t v = 0; v < result.size(); ++v) {
    if (ranges[v].low > ranges[v].high) continue;  // a constant, or a value without elements
    result[v].low = ranges[v].lowest() + 0.0f;     // -0 becomes 0, whichever was seen first
    result[v].high = ranges[v].high + 0.0f;
    result[v].seen = true;
    if (std::isfinite(ranges[v].lowest_seen)) result[v].lowest_seen = ranges[v].lowest_seen;
  }
  std::vector<std::vector<Counts>> by_worker(static_cast<size_t>(thread_count(threads)),
                                             std::vector<Counts>(g.values.size()));
  const auto see = [&](ValueId v, std::span<const float> data, Counts& mine) {
    const Observation& o = result[v];
    count(data, o.low, o.high, mine.bins);
    mine.channels.count(data, g.type(v).shape.empty() ? 1 : g.type(v).shape.back(), o.low, o.high);
  };
  for_each_sample(which.size(), threads, [&](size_t s, int worker) {
    executor.run(stored_inputs(g, samples[which[s]]), [&](ValueId v, std::span<const float> data) {
      if (result[v].seen) see(v, data, by_worker[worker][v]);
    });
  });
  const std::vector<bool> is_known =
      see_known_values(g, [&](ValueId v, std::span<const float> data) {
        if (result[v].seen) see(v, data, by_worker[0][v]);
      });
  for (size_t v = 0; v < result.size(); ++v) {
    Observation& o = result[v];
    if (!o.seen) continue;
    std::vector<i64> bins(kHistogramBins);
    Channels channels;
    for (std::vector<Counts>& worker : by_worker) {
      const Counts counts = std::exchange(worker[v], {});
      counts.bins.add_to(bins);
      channels.add(counts.channels);
    }
    o.bins = Histogram(bins);
    const double span = static_cast<double>(o.high) - o.low,
                 count = is_known[v] ? 1.0 : static_cast<double>(which.size());
    for (const i64 sum : channels.sum)
      o.channel_mean.push_back(
          static_cast<float>(o.low + static_cast<double>(sum) / Channels::kSteps / count * span));
    o.channel_low = std::move(channels.least);
    o.channel_high = std::move(channels.most);
    if (channels.sum.empty()) {  // one number everywhere
      const size_t extent = static_cast<size_t>(g.type(static_cast<ValueId>(v)).shape.empty()
                                                    ? 1
                                                    : g.type(static_cast<ValueId>(v)).shape.back());
      o.channel_mean.assign(extent, o.low);
      o.channel_low = o.channel_high = o.channel_mean;
    }
  }
  for (size_t i = 0; i < g.inputs.size(); ++i)
    if (Observation& o = result[g.inputs[i].value]; o.seen) o.bytes = byte_grid(samples, which, i);
  return result;
}

}  // namespace

std::optional<std::vector<std::vector<Observation>>> observe_parts(const Graph& g,
                                                                   const Samples& samples,
                                                                   std::span<const i32> part_of,
                                                                   i32 parts, int threads,
                                                                   Diagnostics& diagnostics) {
  if (samples.empty()) {
    diagnostics.error(g.name, "a float model needs calibration data", "calibrate.no_samples",
                      "give --calibrate FILE once for each model input");
    return std::nullopt;
  }
  if (!shapes_fit(g, samples, diagnostics)) return std::nullopt;
  use_one_thread_for_each_layer();
  const FloatExecutor executor(g);
  std::vector<std::vector<Range>> ranges;
  if (!observe_ranges(g, executor, samples, {part_of, parts}, threads, ranges, diagnostics))
    return std::nullopt;
  std::vector<std::vector<size_t>> samples_of(static_cast<size_t>(parts));
  for (size_t s = 0; s < samples.size(); ++s) samples_of[part_of[s]].push_back(s);
  std::vector<std::vector<Observation>> result;
  for (size_t part = 0; part < samples_of.size(); ++part)
    result.push_back(observe_part(g, executor, samples, samples_of[part], threads, ranges[part]));
  return result;
}

std::optional<std::vector<Observation>> observe(const Graph& g, const Samples& samples, int threads,
                                                Diagnostics& diagnostics) {
  auto parts =
      observe_parts(g, samples, std::vector<i32>(samples.size(), 0), 1, threads, diagnostics);
  if (!parts) return std::nullopt;
  return std::move(parts->front());
}

}  // namespace deuteron

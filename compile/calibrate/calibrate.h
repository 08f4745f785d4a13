// SPDX-License-Identifier: Apache-2.0
// Observes every value of a float graph over all samples and chooses quantization parameters.
#pragma once
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/diagnostic.h"
#include "compile/calibrate/histogram.h"
#include "compile/calibrate/samples.h"

namespace deuteron {

inline constexpr float kLeastScale = 1.1920928955078125e-07f;  // 2^-23, as torch.ao's observers

// 256 steps from `low`, which 0 is one of: the bytes of a camera or a microphone, as programs hand
// them to a network.
struct ByteGrid {
  float step, low;
  bool operator==(const ByteGrid&) const = default;
};
inline constexpr ByteGrid kByteGrids[] = {
    {1, 0}, {1 / 255.0f, 0}, {1 / 256.0f, 0}, {1, -128}, {1 / 128.0f, -1}};
// The one that all numbers of an input lie on; nothing when they span less than a quarter of it.
std::optional<ByteGrid> byte_grid(const Samples& samples, std::span<const size_t> which,
                                  size_t input);

// What was seen of one value. The histogram spans low..high evenly; counts do not depend on the
// order of samples.
struct Observation {
  float low = 0, high = 0;
  Histogram bins;
  bool seen = false;
  std::optional<ByteGrid>
      bytes;  // of an input of the graph: these steps are exact, and its whole range
  std::vector<float> channel_mean, channel_low, channel_high;  // by index of the last axis
  std::optional<float>
      lowest_seen;  // of what softmax reads: what lies below shows in no int8 result of it
};

// The largest magnitude of each channel.
std::vector<float> channel_most(const Observation& observation);

// What was seen of several values together, and of a value whose readers cannot tell x from
// min(max(x, low), high). Counts are spread over the new bins in proportion, and stay whole.
Observation merged(std::span<const Observation* const> parts);
Observation bounded(const Observation& observation, float low, float high);

// Of a constant, ranges only. Minus infinity (base/tensor/elements.h) is far below the rest.
Observation observed_constant(std::span<const float> data);

// What must lie between a value that softmax shall make 0 of and the largest one: exp(-16) is far
// less than one of 256 steps.
inline constexpr float kMaskedDistance = 16;

// Runs all samples twice (ranges first, then histograms over the final ranges). Non-finite values
// are errors that name the operator and the sample.
std::optional<std::vector<Observation>> observe(const Graph& graph, const Samples& samples,
                                                int threads, Diagnostics& diagnostics);

// The same for parts of the samples, each by itself: part_of[s] in 0..parts-1, no part is empty. By
// part, then by value.
std::optional<std::vector<std::vector<Observation>>> observe_parts(const Graph& graph,
                                                                   const Samples& samples,
                                                                   std::span<const i32> part_of,
                                                                   i32 parts, int threads,
                                                                   Diagnostics& diagnostics);
// What was seen of one value in several parts, of so many samples each.
Observation merged_parts(std::span<const Observation* const> parts, std::span<const i64> samples);

enum class Observer : u8 {
  min_max,
  histogram
};  // histogram: the range with the lowest expected squared error
struct ActivationQuant {
  float scale = 1;
  i32 zero_point = 0;
  Observer observer = Observer::min_max;
  double mean_squared_error = 0;  // over the histogram
};
// affine int8: the range always contains zero, zero_point is where zero lies. symmetric: zero_point
// 0.
ActivationQuant choose(const Observation& observation, Observer observer, bool symmetric, i32 low,
                       i32 high);

// The steps of the grid themselves; nothing where the zero point must be another.
std::optional<ActivationQuant> choose(const ByteGrid& grid, bool symmetric, i32 low);

// The range of `q`, of the steps low..high, with its ends times these factors.
struct RangeFactors {
  double low = 1, high = 1;
};
ActivationQuant widened(const ActivationQuant& q, const RangeFactors& factors, bool symmetric,
                        i32 low, i32 high);

// Over the histogram, for parameters from elsewhere; 0 when nothing was counted.
double mean_squared_error(const Observation& observation, float scale, i32 zero_point, i32 low,
                          i32 high);

// Per-channel (or, axis < 0, per-tensor) symmetric scales of a weight; zero_point 0; -127..127 or
// -128..127 as `low` says.
Quant weight_quant(std::span<const float> weight, const Shape& shape, i32 axis, i32 low, i32 high);

// Signal to quantization noise in dB, 10*log10(sum x^2 / sum (x-y)^2); +infinity when equal.
double sqnr_db(std::span<const float> reference, std::span<const float> value);

}  // namespace deuteron

// Observes every value of a float graph over all samples and chooses quantization parameters.
#pragma once
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/diagnostic.h"
#include "calibrate/samples.h"

namespace deuteron {

inline constexpr float kLeastScale = 1.1920928955078125e-07f;  // 2^-23, as torch.ao's observers

inline constexpr int kHistogramBins = 2048;

// What was seen of one value. The histogram spans low..high evenly; counts do not depend on the order of samples.
struct Observation {
  float low = 0, high = 0;
  std::vector<i64> bins;
  bool seen = false;
  std::vector<float> channel_mean, channel_most;  // by index of the last axis: mean, and largest magnitude
};

// What was seen of several values together, and of a value whose readers cannot tell x from min(max(x, low), high). Counts are spread over
// the new bins in proportion, and stay whole.
Observation merged(std::span<const Observation* const> parts);
Observation bounded(const Observation& observation, float low, float high);

// Of a constant, ranges only. Minus infinity (tensor/elements.h) is far below the rest.
Observation observed_constant(std::span<const float> data);

// What must lie between a value that softmax shall make 0 of and the largest one: exp(-16) is far less than one of 256 steps.
inline constexpr float kMaskedDistance = 16;

// Runs all samples twice (ranges first, then histograms over the final ranges). Non-finite values are errors that name the operator and the
// sample.
std::optional<std::vector<Observation>> observe(const Graph& graph, const Samples& samples, int threads, Diagnostics& diagnostics);

enum class Observer : u8 { min_max, histogram };  // histogram: the range with the lowest expected squared error
struct ActivationQuant {
  float scale = 1;
  i32 zero_point = 0;
  Observer observer = Observer::min_max;
  double mean_squared_error = 0;  // over the histogram
};
// affine int8: the range always contains zero, zero_point is where zero lies. symmetric: zero_point 0.
ActivationQuant choose(const Observation& observation, Observer observer, bool symmetric, i32 low, i32 high);

// Over the histogram, for parameters from elsewhere; 0 when nothing was counted.
double mean_squared_error(const Observation& observation, float scale, i32 zero_point, i32 low, i32 high);

// Per-channel (or, axis < 0, per-tensor) symmetric scales of a weight; zero_point 0; -127..127 or -128..127 as `low` says.
Quant weight_quant(std::span<const float> weight, const Shape& shape, i32 axis, i32 low, i32 high);

// Signal to quantization noise in dB, 10*log10(sum x^2 / sum (x-y)^2); +infinity when equal.
double sqnr_db(std::span<const float> reference, std::span<const float> value);

}  // namespace deuteron

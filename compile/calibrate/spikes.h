// SPDX-License-Identifier: Apache-2.0
// Calibration samples with a number that lies far from all others: one spike of a sensor sets the
// range of everything behind it.
#pragma once
#include <string>
#include <vector>

#include "compile/calibrate/samples.h"

namespace deuteron {

struct Spike {
  size_t sample, input, element;  // element: in the user's order
  float value;
  double ratio;  // how many times as far from the middle of its column as anything in the samples
                 // without spikes
};

// At most one for each sample, in the order of samples; of columns (indices along one axis) and of
// whole inputs. Few samples have spikes: where many are far from the others, or the others are
// unlike each other, numbers are spread that widely.
std::vector<Spike> find_spikes(const Graph& graph, const Samples& samples);

// ratio: of 16 samples of cepstra one reaches 9 times as far as the others
inline constexpr double kLeastSpike = 16;

Samples without_spikes(const Samples& samples, const std::vector<Spike>& spikes);
Samples only_spikes(const Samples& samples, const std::vector<Spike>& spikes);

std::string place_of(const Graph& graph, const Spike& spike);  // "`x`[0, 3, 17]"

}  // namespace deuteron

// SPDX-License-Identifier: Apache-2.0
// Weights of four bits as int8 numbers: each is w * factor, with w in -8..7 and one factor of 1..16
// for a run of 16 weights of a filter. The network is an int8 network; only how its weights can be
// stored differs (docs/precision.md).
#pragma once
#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "base/tensor/type.h"
#include "compile/calibrate/input_moments.h"
#include "ir/graph.h"
#include "kernels/conv2d/packed_w4/tiles.h"

namespace deuteron {

// Factors by filter and run, whole runs first. Where runs of the kernels' own order would not be
// those of [.., inputs], as in a window of several taps over channels that are no multiple of 16,
// all factors are 1.
struct Int4Factors {
  std::vector<int8_t> factor;  // [filters, runs]
  i64 terms = 0;               // weights of a filter

  static constexpr i64 kRunLength = kRun;
  i64 runs() const { return (terms + kRunLength - 1) / kRunLength; }
  i32 of(i64 filter, i64 term) const {
    return factor[static_cast<size_t>(filter * runs() + term / kRunLength)];
  }
  bool operator==(const Int4Factors&) const = default;
};
struct Int4Range {
  i32 low, high;  // of w
  double nearest(double units) const {
    return std::clamp(std::nearbyint(units), static_cast<double>(low), static_cast<double>(high));
  }
};
Int4Range int4_range(
    i32 factor);  // |w * factor| <= 127: weights of -128 have no packed kernel everywhere

// Whether a node of a float graph can: a convolution without groups or a linear layer, with
// constant weights.
bool has_int4_form(const Graph& graph, const Node& node);

// Scales by filter, for weights [filters, .., inputs]. `moments`: what the weights meet, or null;
// errors of what varies more count more.
Quant int4_weight_quant(std::span<const float> weight, const Shape& shape,
                        const InputMoments* moments);
// The factors that lose least with these scales.
Int4Factors int4_factors(std::span<const float> weight, const Shape& shape, const Quant& quant,
                         const InputMoments* moments);

// Each weight by itself.
std::vector<int8_t> round_to_int4(std::span<const float> weight, const Quant& quant,
                                  const Int4Factors& factors);

}  // namespace deuteron

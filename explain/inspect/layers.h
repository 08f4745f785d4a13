// SPDX-License-Identifier: Apache-2.0
// Where a quantized program departs from its float model: every value that both have, side by side.
#pragma once
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "compile/calibrate/samples.h"
#include "explain/inspect/tap_values.h"

namespace deuteron {

struct Compilation;

struct LayerError {
  std::string name;    // the user's operators
  std::string op;      // the kernel that makes the value
  double sqnr_db = 0;  // of the int8 value against the float one, over all samples; +infinity:
                       // equal. Of what softmax reads, what it sees
  double max_abs = 0;
  double clipped = 0;  // share of elements that lie at an end of the int8 range while the float
                       // value lies beyond it
  double used = 0;     // share of the 256 steps between the smallest and the largest that occur
  float low = 0, high = 0;  // what the steps reach from and to; equal: the value is float
  Origin origin = {};       // of the call
};

// One entry for each kernel call whose result the float graph has too, in execution order. Errors
// add up along the way: an entry is not what its own kernel lost, but what its value has lost so
// far.
std::vector<LayerError> compare_layers(const Compilation& compilation, const Samples& samples,
                                       int threads);

// The same from values that a tapped program gave: found[sample][tap], the bytes in storage order.
std::vector<LayerError> compare_taps(const Compilation& compilation, std::span<const Tap> taps,
                                     const Samples& samples,
                                     std::span<const std::vector<std::vector<std::byte>>> found,
                                     int threads);

}  // namespace deuteron

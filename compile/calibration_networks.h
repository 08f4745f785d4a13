// SPDX-License-Identifier: Apache-2.0
// The small calls that `deuteron calibrate-target` times: targets/calibration.txt.
#pragma once
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "base/diagnostic.h"
#include "compile/compilation.h"
#include "compile/options.h"
#include "ir/graph.h"

namespace deuteron {

struct Target;  // targets/target.h

struct CalibrationNetwork {
  std::vector<std::string> layers;
  NetworkPrecision precision = NetworkPrecision::int8;
  bool has_floats = false;         // its inputs and outputs are floats
  bool is_float = false;           // its layers too
  bool is_plain = false;           // its weights are not packed
  bool has_scratch = false;        // all that its calls use, whatever the plan
  bool has_least_scratch = false;  // what lies free beside its only call at most
  bool is_wide = false;            // its inputs are from -16 to 16, not from -1 to 1
};
std::vector<CalibrationNetwork> calibration_networks();

// Whether the target has kernels for a network of the set.
bool is_for(const CalibrationNetwork& network, const Target& target);
// Such a network, as it is timed. Null: with a diagnostic.
std::optional<Compilation> compile_network(const CalibrationNetwork& network, const Target& target,
                                           Diagnostics& diagnostics);

// From -1 to 1.
inline float made_up_number(std::mt19937& bits) {
  return static_cast<float>(bits() >> 8) * 0x1p-23f - 1.0f;
}

}  // namespace deuteron

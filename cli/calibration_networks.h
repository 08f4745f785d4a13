// SPDX-License-Identifier: Apache-2.0
// The small calls that `deuteron calibrate-target` times: targets/calibration.txt.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "base/diagnostic.h"
#include "ir/graph.h"

namespace deuteron {

struct CalibrationNetwork {
  std::vector<std::string> layers;
  bool has_floats = false;   // its inputs and outputs are floats
  bool is_float = false;     // its layers too
  bool is_plain = false;     // its weights are not packed
  bool has_scratch = false;  // all that its calls use, whatever the plan
  bool is_wide = false;      // its inputs are from -16 to 16, not from -1 to 1
};
std::vector<CalibrationNetwork> calibration_networks();

// Its layers side by side, each with an input and an output of its own.
std::optional<Graph> graph_of(const CalibrationNetwork& network, Diagnostics& diagnostics);

}  // namespace deuteron

// SPDX-License-Identifier: Apache-2.0
// The calls of the calibration networks, timed where a program runs, for calibrate-target.
#pragma once
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/diagnostic.h"
#include "cli/run_on_board.h"
#include "compile/calibration_networks.h"
#include "compile/compilation.h"
#include "compile/cost/fit_cost.h"

namespace deuteron {

struct Measurement {
  std::vector<MeasuredCall> calls;
  std::vector<std::optional<MeasuredCall>> loops;  // the same as loop_work()
  std::vector<std::string> shapes;                 // of the calls: "[1,6,5,24]"
  std::string core, clock;
  std::vector<Diagnostic> left_out;  // networks that the chip has no room for
};

// Of each of the samples the cycles of each call: `steps` of the run.
using TimeCalls = std::function<BoardRun(const Compilation&, std::span<const Sample>)>;

// `on`: where they run, for messages. False: with a diagnostic.
bool measure_calls(const std::string& on, const Target& target, const TimeCalls& time_calls,
                   Measurement& m, Diagnostics& diagnostics);

// All that a fit may use: the calls, and their loops.
std::vector<MeasuredCall> all_calls(const Measurement& m);

}  // namespace deuteron

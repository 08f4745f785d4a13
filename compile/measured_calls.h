// SPDX-License-Identifier: Apache-2.0
// The calls of the calibration networks, timed where a program runs, for calibrate-target.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/diagnostic.h"
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

// A program's run.
struct TimedCalls {
  std::vector<double> cycles;       // of each call, once its caches are warm
  std::string core, clock;          // as the board names them; "": it does not
  std::optional<Diagnostic> error;  // where it did not run
};
// Of each sample the bytes of each input, in the program's storage order.
using TimeCalls = std::function<TimedCalls(
    const Compilation&, std::span<const std::vector<std::vector<uint8_t>>> samples)>;

// `on`: where they run, for messages. False: with a diagnostic.
bool measure_calls(const std::string& on, const Target& target, const TimeCalls& time_calls,
                   Measurement& m, Diagnostics& diagnostics);

// All that a fit may use: the calls, and their loops.
std::vector<MeasuredCall> all_calls(const Measurement& m);

}  // namespace deuteron

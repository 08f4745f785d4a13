// SPDX-License-Identifier: Apache-2.0
// Chooses the layers of an int8 network that are worth int16: what each gains on samples that
// nothing was chosen on, against what it costs the whole program.
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/diagnostic.h"
#include "ir/graph.h"

namespace deuteron {

// Of the program that a quantized graph becomes.
struct ProgramSize {
  i64 instructions = 0;  // by the cost model of the target
  i64 ram_bytes = 0, file_bytes = 0;
  bool operator==(const ProgramSize&) const = default;
};

// --precision mixed
struct MixedPrecision {
  // At least one of them. max_cost: instructions over those of the int8 program, 0.1 = a tenth. Of
  // choices that cost no more the most accurate is taken; with target_db the cheapest that reaches
  // it.
  std::optional<double> max_cost, target_db;
  bool may_use_float = true;  // layers without an int16 form may stay in float
  // Nothing where the cost model does not know the program.
  std::function<std::optional<ProgramSize>(const Graph& quantized)> size_of;
};

// One choice of layers and what comes of it.
struct PrecisionChoice {
  std::vector<std::string> layers;  // by name: that work on int16, or have an int16 result, or are
                                    // float where they have no int16 form
  double sqnr_db = 0;               // held out
  double steady_db = 0;  // the same, of what softmax and its like read where there are such
                         // (Score): choices are compared by it
  ProgramSize size;
  bool operator==(const PrecisionChoice&) const = default;
};

struct PrecisionDecision {
  // By instructions, and each more accurate than those before it. The first one is int8;
  // int16_everywhere is not necessarily among them.
  std::vector<PrecisionChoice> curve;
  size_t chosen = 0;                                // of the curve
  std::optional<PrecisionChoice> int16_everywhere;  // all layers that have an int16 form
  std::optional<double> max_cost, target_db;
};

struct QuantizationCandidate;
class Yardstick;

// Gives `best`, an int8 candidate that has been measured, its int16 layers, and appends it to
// `measured`, with whatever another choice of samples could have preferred within max_cost.
// Nothing, with a diagnostic, where the target is out of reach, or the program's cost is not known.
std::optional<PrecisionDecision> choose_precision(QuantizationCandidate& best,
                                                  const MixedPrecision& limits,
                                                  Yardstick& yardstick,
                                                  std::vector<QuantizationCandidate>& measured,
                                                  Diagnostics& diagnostics);

}  // namespace deuteron

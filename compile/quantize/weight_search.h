// SPDX-License-Identifier: Apache-2.0
// Chooses the layers of an int8 network whose weights can do with four bits
// (compile/quantize/int4_weights.h): what each loses on samples that nothing was chosen on, against
// the bytes that it saves.
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "compile/quantize/precision_search.h"

namespace deuteron {

// --precision int4 with a limit
struct WeightLimits {
  // At least one of them: how many dB fewer the whole network may have than in int8, held out, and
  // how many it must keep.
  std::optional<double> max_loss_db, target_db;
  // Nothing where the network has no program.
  std::function<std::optional<ProgramSize>(const Graph& quantized)> size_of;
  // Layers that may be chosen. Empty: all.
  std::function<bool(const Graph&, const Node&)> may_choose;
};

// One choice of layers and what comes of it.
struct WeightChoice {
  std::vector<std::string> layers;  // by name, in the order in which they were taken
  double sqnr_db = 0;               // held out
  double loss_db = 0;  // against int8: of the outputs, or of what bounded outputs are made of
                       // (Score), whichever lost more
  ProgramSize size;    // instructions: 0 where the target has no cost model
};

struct WeightDecision {
  std::vector<WeightChoice>
      curve;          // from int8 on, each with layers more and fewer bytes than the one before
  size_t chosen = 0;  // of the curve
  std::optional<double> max_loss_db, target_db;
};

// Gives `best`, an int8 candidate that has been measured, its layers of four bits. Nothing, with a
// diagnostic, where it has no program.
std::optional<WeightDecision> choose_int4_weights(QuantizationCandidate& best,
                                                  const WeightLimits& limits, Yardstick& yardstick,
                                                  Diagnostics& diagnostics);

}  // namespace deuteron

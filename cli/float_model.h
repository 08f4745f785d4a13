// SPDX-License-Identifier: Apache-2.0
// The float model beside its program: what `evaluate` and `compare` measure against.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "base/data/inputs.h"
#include "base/data/model_part.h"
#include "base/diagnostic.h"
#include "compile/calibrate/stream.h"

namespace deuteron {

struct FloatOutputs {
  std::vector<std::string> names;
  std::vector<Shape> shapes;  // the user's
  std::vector<std::vector<float>>
      outputs;  // [o]: all samples one after the other, in the user's order
  Graph graph;
};

// Runs a model in float32 on the samples that were read for the program; its inputs must be those
// of the program. A state is as `sequence` says.
std::optional<FloatOutputs> run_float_model(
    const std::string& path, const std::vector<std::string>& input_shapes, const ModelPart& part,
    const std::vector<std::string>& states, std::span<const InputSeries> inputs, i64 samples,
    int threads, Diagnostics& diagnostics, Sequence sequence = Sequence::one);

// How far `value` is from `reference`, over all samples.
struct Difference {
  double sqnr_db = 0;  // +infinity: equal
  double max_abs = 0;
  i64 sample = 0, index = 0;  // where the largest difference is
};
Difference difference(std::span<const float> reference, std::span<const float> value,
                      i64 per_sample);

}  // namespace deuteron

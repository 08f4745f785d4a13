// SPDX-License-Identifier: Apache-2.0
// Runs a graph in float32 on the host: one sample at a time, one thread for each sample, so that
// results do not depend on the number of threads.
#pragma once
#include <functional>
#include <span>
#include <vector>

#include "compile/calibrate/samples.h"
#include "ir/graph.h"

namespace deuteron {

class FloatExecutor {
 public:
  // The graph must outlive the executor. Prepares what can be shared between samples (constants as
  // float, oneDNN primitives and packed weights, the point after which each value is dead). s8/s32
  // constants with quantization parameters are dequantized.
  explicit FloatExecutor(const Graph& graph);
  ~FloatExecutor();

  using Observe = std::function<void(ValueId, std::span<const float>)>;
  // `inputs[i]` in storage order of graph.inputs[i]. `observe` (may be empty) sees every
  // non-constant value once, right after it is made. Returns the graph outputs in storage order.
  // Thread-safe.
  std::vector<std::vector<float>> run(std::span<const std::vector<float>> inputs,
                                      const Observe& observe) const;

 private:
  struct State;
  State* state_;
  FloatExecutor(const FloatExecutor&) = delete;
};

}  // namespace deuteron

// SPDX-License-Identifier: Apache-2.0
// Which values of a float graph become int8, and which of them must have the same parameters.
#pragma once
#include <optional>
#include <span>
#include <vector>

#include "compile/calibrate/calibrate.h"
#include "compile/quantize/insert_quantization.h"
#include "ir/graph.h"

namespace deuteron {

// Values joined by `shared` specs.
struct Cluster {
  std::vector<ValueId> members;    // ascending
  std::optional<QuantSpec> fixed;  // the first fixed result among them: then these are the
                                   // parameters, if they hold what was observed
  bool symmetric = false;
  DType dtype = DType::s8;
};

struct QuantizationPlan {
  std::vector<const char*> why_float;  // by node: it stays in float on purpose; null: it does not
  std::vector<bool> quantized;  // by node: has quant_specs() and operands that can follow them, or
                                // is a number_call()
  std::vector<LayerPrecision>
      precision;                // by node: without specs of it (ops/int16.h) it stays float
  std::vector<i32> cluster_of;  // by value; -1: stays float
  std::vector<std::optional<QuantSpec>>
      fixed;                      // by value: result of an operator with fixed parameters
  std::vector<Cluster> clusters;  // in order of their first member
};

// What is read of the operand is represented by what comes out: the same numbers or some of them.
bool passes_numbers_on(const Op&);

// Warns about operators that must stay float because a weight or bias is computed. With
// `observations`, by value, an output, or what others compute with, that is also one of several
// operands with shared parameters has its own where shared ones would be too coarse.
QuantizationPlan plan_quantization(const Graph& graph, const QuantizeOptions& options,
                                   Diagnostics& diagnostics,
                                   std::span<const Observation> observations = {});

// How the node is quantized: by the rules of the backend that will run it.
std::span<const QuantSpec> quant_specs(const Graph&, const Node&, const QuantizeOptions&,
                                       LayerPrecision);

// The axis along which a weight with this spec has a scale for each slice; -1: one for all.
i32 weight_axis(const Node& node, const QuantSpec& spec, const QuantizeOptions& options);

// The spec of operand k, and of the result: the last entry.
inline const QuantSpec& operand_spec(std::span<const QuantSpec> specs, size_t k) {
  return specs[std::min(k, specs.size() - 2)];
}
inline const QuantSpec& result_spec(std::span<const QuantSpec> specs) { return specs.back(); }

// What the parameters of a cluster should serve: the values that arithmetic reads. A value that is
// only moved or only competes for a maximum is represented by what comes out of that, and what a
// reader's bounds cut off does not count.
Observation observed(const Graph& graph, const Uses& uses, const Cluster& cluster,
                     std::span<const Observation> observations);

// Between what bounds the cluster's values lie on any input, as far as the operators that make them
// say so.
Bounds reach(const Graph& graph, const Uses& uses, const Cluster& cluster);

// Whether what else is in the cluster, such as the other parts of a concatenation or what a pad
// adds, lies within the fixed steps of one operator's result. That result itself may lie a step
// outside: the 1 of a softmax is 255/256.
bool fixed_steps_hold(const QuantizationPlan& plan, const Cluster& cluster, const Observation& seen,
                      std::span<const Observation> observations);

}  // namespace deuteron

// SPDX-License-Identifier: Apache-2.0
// How a float model would be quantized for a target, by the names of the model: what a quantizer of
// another tool annotates before training.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "base/diagnostic.h"
#include "ir/graph.h"

namespace deuteron {

struct CompileOptions;  // compile/options.h
struct Target;          // targets/target.h

// A value of the model that becomes integers. Values of one cluster have the same parameters.
struct AnnotatedValue {
  std::string name;  // of the operator that makes it, or of the input
  i32 cluster = 0;
  DType dtype = DType::s8;
  bool symmetric = false;
  std::optional<QuantSpec> fixed;  // the operator says the parameters
};

// A constant that becomes integers of its own: a weight, or a constant operand.
struct AnnotatedConstant {
  std::string name;
  std::string reader;  // the user's operator that reads it
  DType dtype = DType::s8;
  i32 low = -128, high = 127;
  i32 axis = -1;  // of the model's weight: one scale for each slice; -1: one for all
  bool symmetric = false;
};

struct Annotations {
  std::vector<AnnotatedValue> values;  // in the order of execution
  std::vector<AnnotatedConstant> constants;
  std::vector<std::string> identities;  // operators whose result is their operand
  std::vector<std::string> in_parts;  // operators with values inside that need parameters of their
                                      // own: the model must have the parts
  std::vector<SourceOp> in_float;     // operators without an int8 form
  bool was_quantized = false;         // then there is nothing to annotate and all lists are empty
};

// `graph` as it was imported. Errors are those of the passes before quantization.
Annotations annotations_for(const Graph& graph, const Target& target, const CompileOptions& options,
                            Diagnostics& diagnostics);

}  // namespace deuteron

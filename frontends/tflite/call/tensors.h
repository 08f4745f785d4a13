// SPDX-License-Identifier: Apache-2.0
// The tensors of a .tflite model: what the file says of them, and what stands for them in the
// graph.
#pragma once
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/diagnostic.h"
#include "base/tensor/limits.h"
#include "base/tflite/open.h"
#include "ir/graph.h"

namespace deuteron::tflite {

// "INT8"; "type 99" for a number that the schema does not name.
std::string name_of_type(TensorType);

inline bool has_one_scale(const Type& type, DType dtype) {
  return type.dtype == dtype && type.quant.scale.size() == 1;
}

struct ModelTensor {
  std::string name;
  Type type;  // uint8 is int8 here: 128 less, values and zero point. Floats of any width are
              // float32, int4 is int8
  bool shifted = false;  // was uint8
  Quant of_int32;        // beside int32, whose type has none: scales of a bias say nothing
  std::optional<Constant> constant;    // of the type above
  std::optional<Refusal> unsupported;  // why nothing can be done with it: its type, for one. Said
                                       // of the operator that touches it
  bool is_variable = false;
  bool is_complex = false;  // the type is that of its parts
  // Extents that the file leaves open, as in a turn of a loop, are those of what is computed.
  std::vector<bool> open;

  enum class State : u8 {
    unknown,
    there,
    empty,
    broken
  } state = State::unknown;  // empty: without elements; broken: of an operator that was refused
  ValueId value = -1;        // as the type says; -1 of a constant: not asked for so far
  ValueId real = -1;         // dequantized
  ValueId imaginary = -1;    // of complex numbers, whose real part is `value`
  NodeId to_real = -1;       // the node that makes `real`: it works for everybody who reads it
  NodeId to_steps = -1;      // of an input: the node that makes `value`
  i32 maker = -1;            // operator
  // of a handle, or of a tensor that keeps its content: index into ImportState::variables
  i32 variable = -1;
};

// Reads a subgraph's table of tensors; constants lie in `bytes`, which `owner` keeps alive. Reports
// tensors that cannot be.
std::optional<std::vector<ModelTensor>> read_tensors(const Model& model, i32 subgraph,
                                                     const std::shared_ptr<const void>& owner,
                                                     const std::string& file,
                                                     Diagnostics& diagnostics);

}  // namespace deuteron::tflite

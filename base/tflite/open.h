// SPDX-License-Identifier: Apache-2.0
// A TFLite flatbuffer, verified: subgraphs whose tensors, buffers and operators can be read without
// further checks of indices.
#pragma once
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/diagnostic.h"
#include "base/tensor/type.h"
#include "base/tflite/tflite_generated.h"

namespace deuteron::tflite {

constexpr size_t kMostSubgraphs = 64;  // several may be one table of the file

// Null: a diagnostic says why. `where` begins every message ("Neutron IR"). The first subgraph is
// the model, the others are what it calls.
const tflite::Model* open_tflite(std::span<const u8> bytes, const std::string& where,
                                 Diagnostics& diagnostics, size_t most_subgraphs = 1);

// Of an operator: the builtin, and the code's custom name when it is CUSTOM.
struct OperatorKind {
  i32 builtin = 0;
  std::string custom;
};
// Empty: an index outside of the table.
std::optional<OperatorKind> code_of(const tflite::Model& model, const tflite::Operator& op);
std::string name_of_builtin(i32 builtin);  // "CONV_2D", or "builtin 205"

// The content of a tensor's buffer; empty when it has none.
std::span<const u8> buffer_of(const tflite::Model& model, const tflite::Tensor& tensor);

std::span<const i32> ints_of(const flatbuffers::Vector<i32>* v);
// Copied: the verifier does not look at the alignment of elements.
std::vector<i64> longs_of(const flatbuffers::Vector<int64_t>* v);

}  // namespace deuteron::tflite

// SPDX-License-Identifier: Apache-2.0
// Rewrites the operations of a Neutron IR model into fewer ones that give the same bits.
#pragma once
#include "npu/neutron/converter/operation_def.h"

namespace deuteron::neutron {

// Who makes and who reads each tensor; valid until the model changes.
struct TensorUses {
  explicit TensorUses(const Model& m);
  std::vector<i32> producer;              // operation, or -1
  std::vector<std::vector<i32>> readers;  // operations, one entry for each use
  std::vector<i32> output_uses;
  bool read_once(TensorId t) const { return readers[t].size() == 1 && output_uses[t] == 0; }
};

// Operations of one int8 with constants become tables, and what copies all of its operand a view.
// Then, until nothing changes, each definition's `fold`; at last their `fuse`. Operations that
// nobody reads are dropped. `fold`: false leaves every operator an operation of its own (for
// comparison).
void fuse(Model& model, bool fold);

// For rewrites.
// The operation that makes operand 0 of `s`; null where it is an input or a constant.
Operation* maker_of_operand(Model& model, const TensorUses& uses, const Operation& s);
void join_origins(Operation& into, const Operation& from);
// Names in the report why TFLite operators have no kernel of their own. The first reason stays.
void vanish(Model& model, const std::vector<i32>& ops, const std::string& reason);
std::string name_in_reports(const Model& model, const Operation& s);
// The value of all elements of a constant, if it is one.
std::optional<int8_t> uniform_value(const Model& model, TensorId t);
inline bool same_shape(const Model& m, const Operation& s) {
  return m.type(s.inputs[0]).shape == m.type(s.output).shape;
}

}  // namespace deuteron::neutron

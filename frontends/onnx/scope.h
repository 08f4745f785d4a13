// SPDX-License-Identifier: Apache-2.0
// Names within a function or a branch: what is written out in the place of a call must not meet the
// names outside.
#pragma once
#include <map>
#include <string>

#include "frontends/onnx/file/model.h"

namespace deuteron::onnx {

class Scope {
 public:
  Scope() = default;  // the model's own graph: names are as they are
  // The body of a function: its parameters are the call's operands, everything else gets `prefix`.
  // Its attributes are those of the call.
  Scope(const ModelNode& call, const Function& f, std::string prefix);
  // A branch, or a step of a loop: its own names get `prefix`, those from outside stay.
  Scope(const Scope& outer, const ModelGraph& branch, std::string prefix);

  std::string name(const std::string& inner) const;
  ModelNode renamed(const ModelNode& node) const;

 private:
  bool is_model_ = true, is_function_ = false;
  std::string prefix_;
  std::map<std::string, std::string> names_;
  std::map<std::string, Attribute> attributes_;  // of the call
};

}  // namespace deuteron::onnx

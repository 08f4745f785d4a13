// SPDX-License-Identifier: Apache-2.0
// A part of the program that another processor runs: a graph of its own, whose inputs and outputs
// are the node's operands and results. Operands  the body's inputs in order     Results  the body's
// outputs in order
#pragma once
#include <memory>
#include <string>

namespace deuteron {

struct Graph;

struct Delegate {
  std::string backend;                // "neutron"
  std::shared_ptr<const Graph> body;  // its sources are the outer graph's: origins mean the same
  bool operator==(const Delegate&) const = default;
};

}  // namespace deuteron

// Rewrites the steps of a Neutron IR model into fewer ones that give the same bits.
#pragma once
#include "backends/neutron/steps.h"
#include "ir/diagnostic.h"

namespace deuteron::neutron {

// Who makes and who reads each tensor; valid until the model changes.
struct StepUses {
  explicit StepUses(const Model& m);
  std::vector<i32> producer;              // step, or -1
  std::vector<std::vector<i32>> readers;  // steps, one entry for each use
  std::vector<i32> output_uses;
  bool read_once(TensorId t) const { return readers[t].size() == 1 && output_uses[t] == 0; }
};

// An operation of one int8 with constants becomes a table; what copies all of its operand becomes a view. Then, until nothing changes: pads
// into convolutions and maximum pools; tables that only bound or shift into the bounds of the step before; tables into tables; transposes
// into transposes. Steps that nobody reads are dropped. `fold`: false leaves every operator a step of its own (for comparison).
void fuse(Model& model, bool fold);

// The same shape without regard to axes of extent 1: then a transpose moves nothing.
bool moves_nothing(const Transpose& t, const Shape& x);

}  // namespace deuteron::neutron

// SPDX-License-Identifier: Apache-2.0
// Writes a program step by step, in functions that Neutron IR has.
#pragma once
#include "ops/pointwise/pointwise.h"

namespace deuteron {

class PointWriter {
 public:
  explicit PointWriter(size_t most_steps) : most_steps_(most_steps) {}

  PointOperand number(double v) const { return {PointOperand::kNumber, static_cast<float>(v)}; }
  PointOperand step(PointFn fn, PointOperand a, PointOperand b);
  PointOperand add(PointOperand a, PointOperand b) { return step(PointFn::add, a, b); }
  PointOperand mul(PointOperand a, PointOperand b) { return step(PointFn::mul, a, b); }
  PointOperand clamp(PointOperand a, Bounds bounds);
  // The function, or what it is made of.
  PointOperand unary(UnaryFn fn, PointOperand a, float alpha = 0);
  // There are no such steps; the answer is of no use but to go on.
  PointOperand give_up(PointOperand a) {
    fits_ = false;
    return a;
  }

  bool fits() const { return fits_; }
  const PointProgram& program() const { return program_; }

 private:
  PointOperand push(const PointStep& s);

  PointProgram program_;
  size_t most_steps_;
  bool fits_ = true;
};

}  // namespace deuteron

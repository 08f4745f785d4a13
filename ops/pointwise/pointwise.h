// SPDX-License-Identifier: Apache-2.0
// Any function of one element, written as a short program: x -> x * tanh(softplus(x)). Quantized,
// it is a table of 256 entries: whole chains and diamonds of element-wise operators with scalar
// constants are one call, exact to half a step. Operands  x     Result  y, as x
#pragma once
#include <string>

#include "ops/attributes.h"
#include "ops/unary/unary.h"

namespace deuteron {

template <class T>
struct OpDef;
struct HostTensor;
class FormBuilder;

enum class PointFn : u8 { unary, add, sub, mul, div, minimum, maximum, clamp };

struct PointOperand {
  static constexpr i64 kX = -1, kNumber = -2;
  i64 from = kX;     // kX, kNumber, or the step whose result it is
  float number = 0;  // for kNumber
  bool operator==(const PointOperand&) const = default;
};
struct PointStep {
  PointFn fn = PointFn::unary;
  UnaryFn unary = UnaryFn::identity;
  PointOperand a, b;  // b: unused by unary and clamp
  float alpha = 0;    // unary
  Bounds bounds;      // clamp
  bool operator==(const PointStep&) const = default;
};

// The result is that of the last step; no steps: x.
struct PointProgram {
  std::vector<PointStep> steps;
  bool operator==(const PointProgram&) const = default;
};
inline constexpr size_t kMostPointSteps = 64;
std::string to_text(const PointProgram&);  // "add(x,3) clamp(%0,0,6) mul(x,%1)"
std::optional<PointProgram> point_program_named(std::string_view text);
float evaluate(const PointProgram&, float x);  // each step in float32

// y = slope * x + offset, when that is all the program does.
struct PointLine {
  double slope, offset;
};
std::optional<PointLine> line_of(const PointProgram&);

struct Pointwise {
  PointProgram program;
  bool operator==(const Pointwise&) const = default;
  static void fields([[maybe_unused]] auto& self, [[maybe_unused]] auto&& visit) {
    visit("program", self.program);
  }
};
const OpDef<Pointwise>& def_of(const Pointwise&);
void execute(const Pointwise&, std::span<const HostTensor> in,
             std::span<const HostTensor> out);  // execute.cpp

// forms.cpp
bool portable_form(const Pointwise&, FormBuilder&);

}  // namespace deuteron

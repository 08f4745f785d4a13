// SPDX-License-Identifier: Apache-2.0
// The table of the functions of one element: everything that anybody must know of one stands in its
// row of functions.inc.
#pragma once
#include <limits>

#include "ops/pointwise/point_writer.h"
#include "ops/unary/unary.h"

namespace deuteron {

// What a kernel of ATen takes behind x: alpha, or alpha, 1, 1.
enum class AtenArguments : u8 { none, alpha, alpha_1_1 };
struct AtenKernel {
  const char* name = nullptr;  // null: there is none, `portable` says what it is made of
  const char* overload = "out";
  AtenArguments arguments = AtenArguments::none;
};
// Parameters that a builtin has for its result; scale 0: any.
struct FixedResult {
  float scale = 0;
  i32 zero_point = 0;
};

struct UnaryFunction {
  UnaryFn fn;
  std::string_view name;
  float (*value)(float x, float alpha);  // in float32, as PyTorch computes it
  float steepest;        // a bound of |slope| where alpha is 0..1; infinite: there is none
  bool is_slow = false;  // calls the C library, which takes much longer than a multiplication
  Bounds useful = {};    // outside of these x changes nothing
  std::string_view tflite = {};  // TFLite's builtin without parameters that is this function
  // what it is in Neutron IR; empty: nothing, unless it has `builtins`
  std::string_view neutron = {};
  FixedResult fixed = {};  // of that builtin
  AtenKernel aten = {};
  // In float, from operators that the portable kernels compute; operand 0 is x.
  bool (*portable)(FormBuilder&, float alpha) = nullptr;
  // From functions that Neutron IR has; null: it has this one, or nothing is made of it.
  PointOperand (*builtins)(PointWriter&, PointOperand x, float alpha) = nullptr;
};

std::span<const UnaryFunction> unary_functions();
const UnaryFunction& row_of(UnaryFn);
// The function that a builtin of TFLite is; nothing for another one.
std::optional<UnaryFn> unary_of_tflite(std::string_view builtin);

}  // namespace deuteron

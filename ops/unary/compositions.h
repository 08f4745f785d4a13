// SPDX-License-Identifier: Apache-2.0
// What functions are made of where a backend lacks them.
#pragma once
#include "ops/form.h"
#include "ops/pointwise/point_writer.h"

namespace deuteron {

// Float operators that the portable kernels compute.
namespace float_forms {
bool silu(FormBuilder&, float alpha);
bool hardswish(FormBuilder&, float alpha);
bool hardsigmoid(FormBuilder&, float alpha);
bool gelu(FormBuilder&, float alpha);
bool gelu_tanh(FormBuilder&, float alpha);
bool softplus(FormBuilder&, float alpha);
bool entr(FormBuilder&, float alpha);
}  // namespace float_forms

// Functions that Neutron IR has.
namespace builtin_forms {
PointOperand silu(PointWriter&, PointOperand x, float alpha);
PointOperand hardsigmoid(PointWriter&, PointOperand x, float alpha);
PointOperand log1p(PointWriter&, PointOperand x, float alpha);
PointOperand expm1(PointWriter&, PointOperand x, float alpha);
PointOperand entr(PointWriter&, PointOperand x, float alpha);
PointOperand pow(PointWriter&, PointOperand x, float alpha);
PointOperand elu(PointWriter&, PointOperand x, float alpha);
PointOperand softplus(PointWriter&, PointOperand x, float alpha);
PointOperand gelu(PointWriter&, PointOperand x, float alpha);
}  // namespace builtin_forms

}  // namespace deuteron

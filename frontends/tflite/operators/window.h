// SPDX-License-Identifier: Apache-2.0
// What operators with a window, or with an activation in them, have in common.
#pragma once
#include "frontends/tflite/call/call.h"

namespace deuteron::tflite {

// The bounds of a fused activation. TANH and SIGN_BIT are refused.
Bounds bounds_of(Call& c, ActivationFunctionType activation);
// The same behind an operator without bounds of its own: on the rounded values, as TFLite clamps
// steps.
ValueId activated(Call& c, ValueId v, ActivationFunctionType activation);

// Along one axis of an image.
struct Side {
  i64 extent, kernel, stride, dilation;
  i64 before = 0, after = 0, out = 0;
};
// Fills in padding and extent of the result; refuses what cannot be.
void pad_side(Call& c, Padding padding, Side& side);

}  // namespace deuteron::tflite

// SPDX-License-Identifier: Apache-2.0
// What the tests of convolutions with TFLite's int16 arithmetic have in common.
#pragma once
#include "kernels/common/kernel_test.h"
#include "kernels/conv2d/16x8/reference.h"

namespace deuteron {

// What a sum of output channel `oc` comes to with the bias of the call (argument 2; of int32: sums
// have 32 bits), its multipliers and its shifts (behind it).
inline int16_t layer_16x8_reference(TestCall& call, int64_t sum, size_t oc, int64_t low,
                                    int64_t high) {
  const int32_t multiplier = data_of<int32_t>(call.tensor_at(3))[oc],
                shift = data_of<int32_t>(call.tensor_at(4))[oc];
  const Tensor* bias = call.argument(2).kind == Kind::tensor ? &call.tensor_at(2) : nullptr;
  if (bias && bias->type == ScalarType::s32)
    return clamped_16x8(requantize_reference(sum + data_of<int32_t>(*bias)[oc], multiplier, shift),
                        low, high);
  if (bias) sum += data_of<int64_t>(*bias)[oc];
  return clamped_16x8(wrap32_reference(requantize_16x8_reference(sum, multiplier, shift)), low,
                      high);
}

}  // namespace deuteron

// SPDX-License-Identifier: Apache-2.0
// What stands between the operators of a quantized model, as they are written in float: values that
// are rounded to int8.
#pragma once
#include <algorithm>
#include <cmath>

#include "ops/all.h"

namespace deuteron {

// int8 parameters for values between these bounds, zero among them.
inline Quant quant_over(float low, float high) {
  low = std::min(low, 0.0f), high = std::max(high, 0.0f);
  const float scale = high > low ? (high - low) / 255 : 1.0f;
  return per_tensor(
      scale, static_cast<i32>(std::clamp(std::nearbyint(-128 - low / scale), -128.0f, 127.0f)));
}

// The number that a step stands for.
inline float real_of(const Quant& q, i32 step) {
  return static_cast<float>(step - q.zero_point[0]) * q.scale[0];
}

// `b` adds operators one by one: a FormBuilder or a PatchBuilder.
ValueId dequantized_float(auto& b, ValueId steps) {
  Shape shape = b.type(steps).shape;
  return b.add_typed(Dequantize{}, {steps}, Type{DType::f32, std::move(shape), {}});
}

// A float value as one that is rounded to these parameters.
ValueId rounded(auto& b, ValueId v, const Quant& quant) {
  Shape shape = b.type(v).shape;
  return dequantized_float(
      b, b.add_typed(Quantize{quant}, {v}, Type{DType::s8, std::move(shape), quant}));
}

}  // namespace deuteron

// SPDX-License-Identifier: Apache-2.0
// A convolution on int16 as its kernels see it; a linear layer is a 1x1 convolution over its rows.
#pragma once
#include "ops/attributes.h"
#include "ops/op.h"

namespace deuteron {

struct Int16Layer {
  Shape x, weight, y;  // [n,h,w,c], [oc,kh,kw,c/groups], [n,oh,ow,oc]
  HW stride{1, 1}, pad, dilation{1, 1};
  i64 groups = 1;
  Bounds bounds;
  i64 filters() const { return weight[0]; }
  i64 length() const { return weight[1] * weight[2] * weight[3]; }
  bool is_depthwise() const {
    return groups == x[3] && groups > 1 && weight[0] == groups && weight[3] == 1;
  }
};

// Operands x, weight and perhaps a bias, both constants. Refused unless no sum can leave int32. x
// and the weight are int16, or int8; an int8 weight of a depthwise convolution is int16 all the
// same.
Result<Lowered> lower_int16_layer(const Int16Layer& l, const LowerContext& c);

// What stands in the way of the layer's types and extents; `weight`: that it must have.
std::optional<Refusal> why_not_int16_layer(const Int16Layer& l, const LowerContext& c,
                                           DType weight);

// The factor that brings sums to the result's scale.
double int16_factor(const LowerContext& c, i64 filter);

}  // namespace deuteron

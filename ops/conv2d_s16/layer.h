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
  bool is_depthwise() const { return groups == x[3] && groups > 1 && weight[0] == groups && weight[3] == 1; }
};

// Operands x, weight and perhaps a bias, both constants. Refused unless no sum can leave int32.
Result<Lowered> lower_int16_layer(const Int16Layer& l, const LowerContext& c);

}  // namespace deuteron

// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "npu/neutron/kernels/convolution/call.h"

namespace deuteron::neutron {

// Conv2DStandardV1Pool, V2Pool, Conv2DPointwisePool: the convolution, and a pool over its int8
// results as they leave. The pool's windows neither overlap nor reach outside: y [n, out_h /
// pool_h, out_w / pool_w, out_c] with the convolution's y operand and pitch, its out_h and out_w
// are the results before the pool. Rows and columns that fill no window are not computed.
//   maximum  clamp(largest)      average  clamp(sum / (pool_h * pool_w)), to nearest, halves away
//   from zero, as AvgPool
struct ConvPoolCall {
  ConvCall conv;
  int32_t pool_h, pool_w;
  int32_t average;  // 0 or 1
  int32_t pool_min, pool_max;
};
constexpr Kind convolution_of(Kind pooled) {
  return pooled == Kind::kConv2DStandardV1Pool   ? Kind::kConv2DStandardV1
         : pooled == Kind::kConv2DStandardV2Pool ? Kind::kConv2DStandardV2
                                                 : Kind::kConv2DPointwise;
}

}  // namespace deuteron::neutron

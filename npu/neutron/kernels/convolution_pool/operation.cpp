// SPDX-License-Identifier: Apache-2.0
#include "npu/neutron/kernels/convolution/operation.h"
#include "npu/neutron/converter/fuse.h"
#include "npu/neutron/kernels/convolution/lower.h"
#include "npu/neutron/kernels/convolution_pool/cost.h"
#include "npu/neutron/kernels/pool/cost.h"
#include "npu/neutron/kernels/pool/operation.h"

namespace deuteron::neutron {
namespace {

// A convolution and a pool over its results, whose windows neither overlap nor reach outside.
struct ConvolutionPool {
  Window window;
  i64 pool_h = 1, pool_w = 1, h = 0, w = 0;  // the pool's window; the results before it
  bool average = false;
  i32 low = -128, high = 127;  // bounds behind the pool
};

// conv2d -> pool   becomes   one operation, which pools its results as they leave.
// Refused when somebody else reads the middle, when windows overlap or reach outside.
bool fuse(Model& m, const TensorUses& uses, Operation& s) {
  Operation* before = s.def == &pool_operation ? maker_of_operand(m, uses, s) : nullptr;
  if (!before || before->def != &convolution_operation || !uses.read_once(s.inputs[0]))
    return false;
  const Pool& pool = s.as<Pool>();
  const Window& w = pool.window;
  if (w.padded() || w.dilation_h != 1 || w.dilation_w != 1) return false;
  const Shape &x = m.type(s.inputs[0]).shape, &y = m.type(s.output).shape;
  const auto fits = [](i64 extent, i64 kernel, i64 stride, i64 out) {
    return out == extent / kernel && (stride == kernel || out == 1) && extent >= kernel;
  };
  if (!fits(x[1], w.kernel_h, w.stride_h, y[1]) || !fits(x[2], w.kernel_w, w.stride_w, y[2]))
    return false;
  before->attributes = ConvolutionPool{before->as<Convolution>().window,
                                       w.kernel_h,
                                       w.kernel_w,
                                       x[1],
                                       x[2],
                                       pool.average,
                                       s.low,
                                       s.high};
  before->def = &convolution_pool_operation;
  before->output = s.output;
  join_origins(*before, s);
  s.output = kNoTensor;
  return true;
}

Kind pooled(Kind convolution) {
  for (const Kind kind : {Kind::kConv2DStandardV1Pool, Kind::kConv2DStandardV2Pool})
    if (convolution_of(kind) == convolution) return kind;
  return Kind::kConv2DPointwisePool;
}

// Of a convolution and a pool, each a kernel.
i64 cycles_apart(const Machine& m, Kind convolution, const ConvPoolCall& c) {
  PoolCall pool{};
  pool.n = c.conv.n, pool.h = c.conv.out_h, pool.w = c.conv.out_w, pool.c = c.conv.out_c;
  pool.kernel_h = pool.stride_h = c.pool_h, pool.kernel_w = pool.stride_w = c.pool_w;
  pool.out_h = c.conv.out_h / c.pool_h, pool.out_w = c.conv.out_w / c.pool_w;
  return cost_of(m, convolution, c.conv).total() +
         cost_of(m, c.average ? Kind::kAvgPool : Kind::kMaxPool, pool).total();
}

Fault lower(Lowering& l, const Operation& s) {
  const auto& a = s.as<ConvolutionPool>();
  ConvPoolCall c{};
  DEUTERON_TRY(fill_convolution(l, s, a.window, "conv2d", c.conv));
  c.conv.out_h = l.word(a.h), c.conv.out_w = l.word(a.w);
  const Kind kind = kind_of_convolution(l.machine(), a.window, c.conv);
  DEUTERON_TRY(locate_operands(l, s, kind, l.weights(s.inputs[1]), "conv2d", c.conv));
  c.pool_h = l.word(a.pool_h), c.pool_w = l.word(a.pool_w), c.average = a.average ? 1 : 0;
  c.pool_min = a.low, c.pool_max = a.high;
  l.push_assumed(pooled(kind), c, cycles_apart(l.machine(), kind, c));
  return std::nullopt;
}

}  // namespace

const OperationDef convolution_pool_operation = {
    .tflite = {},
    .fusing = {.is_identity = never_identity,
               .ending = requantized_ending,
               .only_moves = false,
               .as_function = no_function,
               .fold = nullptr,
               .fuse = fuse},
    .placing = kWithGaps,
    .lower = lower,
};

}  // namespace deuteron::neutron

// SPDX-License-Identifier: Apache-2.0
#include "npu/neutron/kernels/pool/operation.h"

#include "npu/neutron/converter/fuse.h"
#include "npu/neutron/converter/lowering.h"
#include "npu/neutron/converter/operator_reader.h"
#include "npu/neutron/kernels/pad/fold.h"
#include "npu/neutron/kernels/pool/call.h"

namespace deuteron::neutron {
namespace {

template <bool kAverage>
Fault read(OperatorReader& op, const tflite::Operator& o) {
  const auto* p = o.builtin_options_as_Pool2DOptions();
  if (!p) return op.wrong("no options");
  DEUTERON_TRY(op.same_quant_int8());
  const Shape &x = op.shape(0), &r = op.y().shape;
  if (x.size() != 4 || r.size() != 4)
    return op.wrong("ranks of image and result", fmt::format("{}, {}", x.size(), r.size()), "4");
  DEUTERON_TRY(op.image_result(x[0], x[3]));
  Window v{p->filter_height(), p->filter_width(), p->stride_h(), p->stride_w(), 1, 1};
  Operation s;
  DEUTERON_TRY(op.sliding(*p, x, r, &v, &s));
  return op.push(pool_operation, Pool{kAverage, v}, {op.in(0)}, s);
}

bool is_identity(const Model& m, const Operation& s) {
  const Window& w = s.as<Pool>().window;
  return w.kernel_h == 1 && w.kernel_w == 1 && w.stride_h == 1 && w.stride_w == 1 &&
         same_shape(m, s);
}

Ending ending(const Operation&) { return Ending::bounded; }

// -128 never wins, but every window must see something else.
bool fold(Model& m, const TensorUses& uses, Operation& s) {
  Pool& a = s.as<Pool>();
  return !a.average && fold_pad(m, uses, s, a.window, -128, /*must_see=*/true);
}

Fault lower(Lowering& l, const Operation& s) {
  const auto& a = s.as<Pool>();
  if (auto fault = l.window_limits(a.window, a.average ? "avg_pool2d" : "max_pool2d", kMostPixels))
    return fault;
  PoolCall c{};
  fill_image(c, l, s, a.window);
  fill_bounds(c, s);
  l.locate(c.x, s.inputs[0]);
  l.locate(c.y, s.output);
  l.push(a.average ? Kind::kAvgPool : Kind::kMaxPool, c);
  return std::nullopt;
}

constexpr TfliteRow kRows[] = {
    {tflite::BuiltinOperator::AVERAGE_POOL_2D, "average_pool_2d", 1, 1, false, read<true>},
    {tflite::BuiltinOperator::MAX_POOL_2D, "max_pool_2d", 1, 1, false, read<false>},
};

}  // namespace

const OperationDef pool_operation = {
    .tflite = kRows,
    .fusing = {.is_identity = is_identity,
               .ending = ending,
               .only_moves = false,
               .as_function = no_function,
               .fold = fold,
               .fuse = nullptr},
    .placing = kWithGaps,
    .lower = lower,
};

}  // namespace deuteron::neutron

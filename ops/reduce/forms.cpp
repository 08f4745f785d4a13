// SPDX-License-Identifier: Apache-2.0
#include "ops/form.h"
#include "ops/reduce/slices.h"

namespace deuteron {

// An int8 mean or sum over axes that are no neighbours   becomes   one over the last axis of a
// matrix, for stock firmware any, which is a linear layer there; an int8 extreme   becomes pooling.
// The bits are the NPU's.
static bool int8_reduce_to_kernel_form(const Reduce& a, FormBuilder& b) {
  const Type &x = b.type(0), &y = b.result();
  if (x.dtype != DType::s8 && x.dtype != DType::s16) return false;
  const bool sums = a.fn == Reduce::kMean || a.fn == Reduce::kSum;
  ValueId v = 0;
  Slices s = slices_of(x.shape, a.axes);
  if (sums && (b.site().for_stock ? x.rank() == 2 && a.axes == Axes{1} : s.neighbours))
    return false;
  if (!s.neighbours || (sums && s.inner > 1)) {
    v = slices_last(b, v, a.axes);
    s = {s.outer * s.inner, s.slice, 1, true};
  }
  if (sums)
    return b.finish(Reshape{y.shape},
                    {b.add(Reduce{a.fn, {1}}, {viewed(b, v, {s.outer, s.slice})}, y.quant)});
  const bool least = a.fn == Reduce::kMin;
  if (least) v = b.add(Unary{UnaryFn::neg, 0}, {v}, mirrored(x.quant));
  MaxPool2d pool;
  pool.kernel = pool.stride = {1, s.slice};
  v = b.add(pool, {viewed(b, v, {1, s.outer, s.slice, s.inner})}, b.type(v).quant);
  v = viewed(b, v, y.shape);
  if (least) v = b.add(Unary{UnaryFn::neg, 0}, {v}, x.quant);
  if (x.quant != y.quant) v = b.add(Clamp{}, {v}, y.quant);
  return b.finish(v);
}

bool kernel_form(const Reduce& a, FormBuilder& b) { return int8_reduce_to_kernel_form(a, b); }

}  // namespace deuteron

// SPDX-License-Identifier: Apache-2.0
#include "ops/pointwise/point_writer.h"

#include "ops/unary/functions.h"

namespace deuteron {

PointOperand PointWriter::push(const PointStep& s) {
  program_.steps.push_back(s);
  fits_ = fits_ && program_.steps.size() <= most_steps_;
  return {static_cast<i64>(program_.steps.size()) - 1, 0};
}

PointOperand PointWriter::step(PointFn fn, PointOperand a, PointOperand b) {
  PointStep s;
  s.fn = fn;
  s.a = a;
  s.b = b;
  return push(s);
}

PointOperand PointWriter::clamp(PointOperand a, Bounds bounds) {
  PointStep s;
  s.fn = PointFn::clamp;
  s.a = a;
  s.bounds = bounds;
  return push(s);
}

PointOperand PointWriter::unary(UnaryFn fn, PointOperand a, float alpha) {
  if (const auto builtins = row_of(fn).builtins) return builtins(*this, a, alpha);
  PointStep s;
  s.unary = fn;
  s.alpha = alpha;
  s.a = a;
  return push(s);
}

}  // namespace deuteron

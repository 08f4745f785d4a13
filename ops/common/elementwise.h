// SPDX-License-Identifier: Apache-2.0
// Float execution of element-wise operators: NumPy's broadcasting of two operands, and the bounds
// of a result.
#pragma once
#include <type_traits>

#include "kernels/common/lanes.h"
#include "ops/attributes.h"
#include "ops/op.h"

namespace deuteron {

// y = bounds(x); NaN stays NaN, as in torch.clamp. x may be y.
inline void apply_bounds(const Bounds& b, const float* x, float* y, i64 count) {
  map_floats(x, y, count, [&]<class V>(V v) {
    v = v < b.low ? V{} + b.low : v;
    v = v > b.high ? V{} + b.high : v;
    return v;
  });
}
inline void apply_bounds(const Bounds& b, std::span<float> data) {
  if (!b.none()) apply_bounds(b, data.data(), data.data(), static_cast<i64>(data.size()));
}

// Steps, in elements of an operand, for a move along each axis of the result: 0 where the operand
// has extent 1 or lacks the axis.
inline Axes broadcast_steps(const Shape& operand, const Shape& result) {
  Axes steps(result.size(), 0);
  i64 step = 1;
  for (size_t k = operand.size(); k-- > 0;) {
    const size_t axis = k + result.size() - operand.size();
    steps[axis] = operand[k] == 1 ? 0 : step;
    step *= operand[k];
  }
  return steps;
}

// y[i] = f(a[i * step_a], b[i * step_b]); steps are 0 or 1. Four at a time where f takes Lanes as
// well as float.
template <class F>
void map_pairs(const float* a, i64 step_a, const float* b, i64 step_b, float* y, i64 count, F f) {
  i64 i = 0;
  if constexpr (std::is_invocable_v<F, Lanes, Lanes>) {
    const auto lanes_at = [](const float* from, i64 step) {
      Lanes v = Lanes{} + from[0];
      if (step != 0) std::memcpy(&v, from, sizeof v);
      return v;
    };
    for (; i + kLanes <= count; i += kLanes) {
      const Lanes v = f(lanes_at(a + i * step_a, step_a), lanes_at(b + i * step_b, step_b));
      std::memcpy(y + i, &v, sizeof v);
    }
  }
  for (; i < count; ++i) y[i] = f(a[i * step_a], b[i * step_b]);
}

// y = f(a, b) for each element of y.
template <class F>
void for_each_broadcast(const HostTensor& a, const HostTensor& b, const HostTensor& y, F f) {
  const Shape& shape = y.type->shape;
  const i64 total = y.type->elements();
  if (total == 0) return;
  if (a.type->shape == shape && b.type->shape == shape)
    return map_pairs(a.data, 1, b.data, 1, y.data, total, f);
  const Axes step_a = broadcast_steps(a.type->shape, shape),
             step_b = broadcast_steps(b.type->shape, shape);
  const size_t rank = shape.size();
  const i64 inner = rank ? shape[rank - 1] : 1, inner_a = rank ? step_a[rank - 1] : 0,
            inner_b = rank ? step_b[rank - 1] : 0;
  Axes index(rank, 0);
  i64 at_a = 0, at_b = 0;
  for (i64 at = 0; at < total; at += inner) {
    map_pairs(a.data + at_a, inner_a, b.data + at_b, inner_b, y.data + at, inner, f);
    for (size_t k = rank > 0 ? rank - 1 : 0; k-- > 0;) {
      at_a += step_a[k], at_b += step_b[k];
      if (++index[k] < shape[k]) break;
      at_a -= step_a[k] * shape[k], at_b -= step_b[k] * shape[k];
      index[k] = 0;
    }
  }
}

}  // namespace deuteron

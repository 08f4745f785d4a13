// SPDX-License-Identifier: Apache-2.0
// Float execution of Reduce; sums in double.
#include <limits>
#include <vector>

#include "ops/common/elementwise.h"
#include "ops/reduce/reduce.h"

namespace deuteron {

// A row of `count` elements, into one value or into as many.
template <class Take>
static void take_row(const float* x, i64 count, double* value, i64 step, Take take) {
  if (step == 0) {
    double v = *value;
    for (i64 i = 0; i < count; ++i) v = take(v, x[i]);
    *value = v;
  } else {
    for (i64 i = 0; i < count; ++i) value[i] = take(value[i], x[i]);
  }
}

void execute(const Reduce& a, std::span<const HostTensor> in, std::span<const HostTensor> out) {
  const Shape& shape = in[0].type->shape;
  const Axes step = broadcast_steps(out[0].type->shape, shape);
  const i64 total = in[0].type->elements(), results = out[0].type->elements();
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const double first = a.fn == Reduce::kMax ? -kInfinity : a.fn == Reduce::kMin ? kInfinity : 0;
  std::vector<double> value(static_cast<size_t>(results), first);
  Axes at(shape.size(), 0);
  const i64 row = shape.empty() ? 1 : shape.back(), inner = shape.empty() ? 0 : step.back();
  i64 y = 0;
  for (i64 i = 0; i < total; i += row) {
    const float* x = in[0].data + i;
    // What is no number stays, as in torch.
    if (a.fn == Reduce::kMax)
      take_row(x, row, &value[y], inner,
               [](double v, double e) { return e > v || e != e ? e : v; });
    else if (a.fn == Reduce::kMin)
      take_row(x, row, &value[y], inner,
               [](double v, double e) { return e < v || e != e ? e : v; });
    else take_row(x, row, &value[y], inner, [](double v, double e) { return v + e; });
    for (size_t k = shape.size(); k-- > 1;) {
      y += step[k - 1];
      if (++at[k - 1] < shape[k - 1]) break;
      y -= step[k - 1] * shape[k - 1];
      at[k - 1] = 0;
    }
  }
  const double count = results > 0 ? static_cast<double>(total) / static_cast<double>(results) : 1;
  for (i64 i = 0; i < results; ++i)
    out[0].data[i] = static_cast<float>(a.fn == Reduce::kMean ? value[i] / count : value[i]);
}

}  // namespace deuteron

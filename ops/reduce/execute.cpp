// Float execution of Reduce; sums in double.
#include <vector>

#include "ops/elementwise/elementwise.h"
#include "ops/reduce/reduce.h"

namespace deuteron {

void execute(const Reduce& a, std::span<const HostTensor> in, std::span<const HostTensor> out) {
  const Shape& shape = in[0].type->shape;
  const Axes step = broadcast_steps(out[0].type->shape, shape);
  const i64 total = in[0].type->elements(), results = out[0].type->elements();
  std::vector<double> value(static_cast<size_t>(results), 0);
  std::vector<bool> begun(static_cast<size_t>(results), false);
  Axes at(shape.size(), 0);
  i64 y = 0;
  for (i64 i = 0; i < total; ++i) {
    const double x = in[0].data[i];
    double& v = value[y];
    if (a.fn == Reduce::kMax) v = begun[y] && !(x > v || x != x) ? v : x;
    else if (a.fn == Reduce::kMin) v = begun[y] && !(x < v || x != x) ? v : x;
    else v += x;
    begun[y] = true;
    for (size_t k = shape.size(); k-- > 0;) {
      y += step[k];
      if (++at[k] < shape[k]) break;
      y -= step[k] * shape[k];
      at[k] = 0;
    }
  }
  const double count = results > 0 ? static_cast<double>(total) / static_cast<double>(results) : 1;
  for (i64 i = 0; i < results; ++i) out[0].data[i] = static_cast<float>(a.fn == Reduce::kMean ? value[i] / count : value[i]);
}

}  // namespace deuteron

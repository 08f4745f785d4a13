// SPDX-License-Identifier: Apache-2.0
// Softmax and its logarithm, on float.
#include <cmath>

#include "kernels/portable/kernels.h"
#include "kernels/portable/lines.h"

namespace deuteron {
namespace {
using namespace portable;

// flag: the logarithm
void run_softmax(const Lines& l) {
  each_line(l, [&](int32_t x_at, int32_t y_at, int32_t) {
    const float* x = static_cast<const float*>(l.x) + x_at;
    float* y = static_cast<float*>(l.y) + y_at;
    float largest = x[0];
    for (int32_t i = 1; i < l.size; ++i)
      largest = x[i * l.x_stride] > largest ? x[i * l.x_stride] : largest;
    float sum = 0;
    for (int32_t i = 0; i < l.size; ++i) {
      const float e = std::exp(x[i * l.x_stride] - largest);
      sum += e;
      if (!l.flag) y[i * l.y_stride] = e;
    }
    const float log_sum = l.flag ? std::log(sum) : 0;
    for (int32_t i = 0; i < l.size; ++i) {
      float& v = y[i * l.y_stride];
      v = l.flag ? x[i * l.x_stride] - largest - log_sum : v / sum;
    }
  });
}

// (x, dim, half_to_float, out)
template <bool kLogarithm>
Status prepare_softmax(Call& call, Prepared* prepared) {
  const Tensor &x = call.tensor(0), &y = call.tensor(3);
  const int dim = dimension(call.integer(1), x.rank);
  if (dim < 0) return bad_argument(1, "is not a dimension of the input");
  if (x.type != ScalarType::f32) return bad_argument(0, "must be float");
  if (y.type != ScalarType::f32 || !same_sizes(x, y))
    return bad_argument(3, "must be float, with the input's sizes");
  if (x.numel == 0) return keep_nothing(prepared);
  Lines l;
  const Status s = fill_lines(call, dim, 3, -1, &l);
  l.flag = kLogarithm;
  return s.ok() ? keep<Lines, run_softmax>(call, prepared, l) : s;
}

}  // namespace

extern const Kernel kAtenSoftmax = {"aten::_softmax.out", "TIBO", prepare_softmax<false>};
extern const Kernel kAtenLogSoftmax = {"aten::_log_softmax.out", "TIBO", prepare_softmax<true>};

}  // namespace deuteron

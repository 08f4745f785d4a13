// Float matrix products: mm, addmm. Any memory order.
#include <initializer_list>

#include "backends/portable/kernels.h"
#include "backends/portable/strided.h"

namespace deuteron {
namespace {
using namespace portable;

struct Product {
  const float *a, *b, *bias;
  float* y;
  int32_t m, k, n;
  int32_t a_stride[2], b_stride[2], y_stride[2], bias_stride[2];
  float alpha, beta;
};
void run_product(const Product& p) {
  for (int32_t i = 0; i < p.m; ++i)
    for (int32_t j = 0; j < p.n; ++j) {
      float sum = 0;
      for (int32_t k = 0; k < p.k; ++k) sum += p.a[i * p.a_stride[0] + k * p.a_stride[1]] * p.b[k * p.b_stride[0] + j * p.b_stride[1]];
      if (p.bias) sum = sum * p.alpha + p.bias[i * p.bias_stride[0] + j * p.bias_stride[1]] * p.beta;
      p.y[i * p.y_stride[0] + j * p.y_stride[1]] = sum;
    }
}

Status fill_product(const Call& call, int a_at, int out, Product* p) {
  for (const int i : {a_at, a_at + 1, out}) {
    if (call.tensor(i).type != ScalarType::f32) return bad_argument(i, "must be float");
    if (call.tensor(i).rank != 2) return bad_argument(i, "must have rank 2");
  }
  const Tensor &a = call.tensor(a_at), &b = call.tensor(a_at + 1), &y = call.tensor(out);
  if (a.sizes[1] != b.sizes[0]) return bad_argument(a_at + 1, "has the wrong number of rows");
  if (y.sizes[0] != a.sizes[0] || y.sizes[1] != b.sizes[1]) return bad_argument(out, "has the wrong sizes");
  *p = {};
  p->a = static_cast<const float*>(a.data);
  p->b = static_cast<const float*>(b.data);
  p->y = static_cast<float*>(y.data);
  p->m = a.sizes[0];
  p->k = a.sizes[1];
  p->n = b.sizes[1];
  strides_of(a, p->a_stride);
  strides_of(b, p->b_stride);
  strides_of(y, p->y_stride);
  return Status{};
}

// (a, b, out)
Status prepare_mm(Call& call, Prepared* prepared) {
  Product p;
  const Status s = fill_product(call, 0, 2, &p);
  return s.ok() ? keep<Product, run_product>(call, prepared, p) : s;
}
// (bias, a, b, beta, alpha, out)
Status prepare_addmm(Call& call, Prepared* prepared) {
  Product p;
  const Status s = fill_product(call, 1, 5, &p);
  if (!s.ok()) return s;
  const Tensor& bias = call.tensor(0);
  if (bias.type != ScalarType::f32) return bad_argument(0, "must be float");
  if (bias.rank > 2) return bad_argument(0, "must have rank 2 or less");
  int32_t strides[kMaxRank];
  strides_of(bias, strides);
  for (int i = 0; i < bias.rank; ++i) {
    const int to = 2 - bias.rank + i;
    const int32_t want = to == 0 ? p.m : p.n;
    if (bias.sizes[i] != 1 && bias.sizes[i] != want) return bad_argument(0, "does not broadcast to the out's sizes");
    p.bias_stride[to] = bias.sizes[i] == 1 ? 0 : strides[i];
  }
  p.bias = static_cast<const float*>(bias.data);
  p.beta = static_cast<float>(call.real(3));
  p.alpha = static_cast<float>(call.real(4));
  return keep<Product, run_product>(call, prepared, p);
}

}  // namespace

extern const Kernel kAtenMm = {"aten::mm.out", "TTO", prepare_mm};
extern const Kernel kAtenAddmm = {"aten::addmm.out", "TTTFFO", prepare_addmm};

}  // namespace deuteron

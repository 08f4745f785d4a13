// SPDX-License-Identifier: Apache-2.0
// Float matrix products: mm, bmm, addmm, linear. Any memory order.
#include <initializer_list>

#include "kernels/portable/kernels.h"
#include "kernels/portable/strided.h"

namespace deuteron {
namespace {
using namespace portable;

struct Product {
  const float *a, *b, *bias;
  float* y;
  int32_t m, k, n;
  int32_t a_stride[2], b_stride[2], y_stride[2], bias_stride[2];
  float alpha, beta;
  int32_t batch, a_batch, b_batch, y_batch;  // how many products, and the strides between them
};
void run_one(const Product& p) {
  for (int32_t i = 0; i < p.m; ++i)
    for (int32_t j = 0; j < p.n; ++j) {
      float sum = 0;
      for (int32_t k = 0; k < p.k; ++k)
        sum +=
            p.a[i * p.a_stride[0] + k * p.a_stride[1]] * p.b[k * p.b_stride[0] + j * p.b_stride[1]];
      if (p.bias)
        sum = sum * p.alpha + p.bias[i * p.bias_stride[0] + j * p.bias_stride[1]] * p.beta;
      p.y[i * p.y_stride[0] + j * p.y_stride[1]] = sum;
    }
}

void run_product(const Product& p) {
  Product one = p;
  for (int32_t n = 0; n < p.batch; ++n, one.a += p.a_batch, one.b += p.b_batch, one.y += p.y_batch)
    run_one(one);
}

Status fill_product(const Call& call, int a_at, int out, Product* p) {
  for (const int i : {a_at, a_at + 1, out}) {
    if (call.tensor(i).type != ScalarType::f32) return bad_argument(i, "must be float");
    if (call.tensor(i).rank != 2) return bad_argument(i, "must have rank 2");
  }
  const Tensor &a = call.tensor(a_at), &b = call.tensor(a_at + 1), &y = call.tensor(out);
  if (a.sizes[1] != b.sizes[0]) return bad_argument(a_at + 1, "has the wrong number of rows");
  if (y.sizes[0] != a.sizes[0] || y.sizes[1] != b.sizes[1])
    return bad_argument(out, "has the wrong sizes");
  *p = {};
  p->a = static_cast<const float*>(a.data);
  p->b = static_cast<const float*>(b.data);
  p->y = static_cast<float*>(y.data);
  p->m = a.sizes[0];
  p->k = a.sizes[1];
  p->n = b.sizes[1];
  p->batch = 1;
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
// (a, b, out), each a batch of matrices
Status prepare_bmm(Call& call, Prepared* prepared) {
  int32_t strides[3][3];
  for (const int i : {0, 1, 2}) {
    const Tensor& t = call.tensor(i);
    if (t.type != ScalarType::f32) return bad_argument(i, "must be float");
    if (t.rank != 3) return bad_argument(i, "must have rank 3");
    if (t.sizes[0] != call.tensor(0).sizes[0])
      return bad_argument(i, "has another batch than the first");
    strides_of(t, strides[i]);
  }
  const Tensor &a = call.tensor(0), &b = call.tensor(1), &y = call.tensor(2);
  if (a.sizes[2] != b.sizes[1]) return bad_argument(1, "has the wrong number of rows");
  if (y.sizes[1] != a.sizes[1] || y.sizes[2] != b.sizes[2])
    return bad_argument(2, "has the wrong sizes");
  if (y.numel == 0) return keep_nothing(prepared);
  Product p{};
  p.a = static_cast<const float*>(a.data);
  p.b = static_cast<const float*>(b.data);
  p.y = static_cast<float*>(y.data);
  p.m = a.sizes[1];
  p.k = a.sizes[2];
  p.n = b.sizes[2];
  for (const int i : {0, 1})
    p.a_stride[i] = strides[0][i + 1], p.b_stride[i] = strides[1][i + 1],
    p.y_stride[i] = strides[2][i + 1];
  p.batch = a.sizes[0];
  p.a_batch = strides[0][0];
  p.b_batch = strides[1][0];
  p.y_batch = strides[2][0];
  return keep<Product, run_product>(call, prepared, p);
}

// (x, weight, bias?, out): x and out as matrices with one row for each position of the leading
// dimensions
Status prepare_linear(Call& call, Prepared* prepared) {
  const Tensor &x = call.tensor(0), &w = call.tensor(1), &y = call.tensor(3);
  for (const int i : {0, 1, 3})
    if (call.tensor(i).type != ScalarType::f32) return bad_argument(i, "must be float");
  for (const int i : {0, 3})
    if (!is_dense(call.tensor(i)))
      return bad_argument(i, "must be stored in the order of its dimensions");
  if (w.rank != 2) return bad_argument(1, "must have rank 2");
  if (x.rank < 1 || x.sizes[x.rank - 1] != w.sizes[1])
    return bad_argument(0, "has another number of features than the weight");
  if (y.rank != x.rank || y.sizes[y.rank - 1] != w.sizes[0])
    return bad_argument(3, "has the wrong sizes");
  for (int i = 0; i < x.rank - 1; ++i)
    if (y.sizes[i] != x.sizes[i]) return bad_argument(3, "has the wrong sizes");
  if (y.numel == 0) return keep_nothing(prepared);
  Product p{};
  int32_t strides[2];
  strides_of(w, strides);
  p.a = static_cast<const float*>(x.data);
  p.b = static_cast<const float*>(w.data);
  p.y = static_cast<float*>(y.data);
  p.k = w.sizes[1];
  p.n = w.sizes[0];
  p.m = y.numel / p.n;
  p.a_stride[0] = p.k;
  p.y_stride[0] = p.n;
  p.a_stride[1] = p.y_stride[1] = 1;
  p.b_stride[0] = strides[1];
  p.b_stride[1] = strides[0];
  p.alpha = p.beta = 1;
  p.batch = 1;
  if (const Tensor* bias = call.optional_tensor(2)) {
    if (bias->type != ScalarType::f32 || bias->rank != 1 || bias->sizes[0] != p.n)
      return bad_argument(2, "must be float, with one entry for each output feature");
    p.bias = static_cast<const float*>(bias->data);
    p.bias_stride[1] = 1;
  }
  return keep<Product, run_product>(call, prepared, p);
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
    if (bias.sizes[i] != 1 && bias.sizes[i] != want)
      return bad_argument(0, "does not broadcast to the out's sizes");
    p.bias_stride[to] = bias.sizes[i] == 1 ? 0 : strides[i];
  }
  p.bias = static_cast<const float*>(bias.data);
  p.beta = static_cast<float>(call.real(3));
  p.alpha = static_cast<float>(call.real(4));
  return keep<Product, run_product>(call, prepared, p);
}

}  // namespace

extern const Kernel kAtenMm = {"aten::mm.out", "TTO", prepare_mm};
extern const Kernel kAtenBmm = {"aten::bmm.out", "TTO", prepare_bmm};
extern const Kernel kAtenLinear = {"aten::linear.out", "TTtO", prepare_linear};
extern const Kernel kAtenAddmm = {"aten::addmm.out", "TTTFFO", prepare_addmm};

}  // namespace deuteron

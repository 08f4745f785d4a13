// SPDX-License-Identifier: Apache-2.0
#include "npu/neutron/converter/lowering.h"
#include "npu/neutron/converter/operator_reader.h"
#include "npu/neutron/converter/scales.h"
#include "npu/neutron/kernels/batch_matmul/call.h"

namespace deuteron::neutron {
namespace {

// Operands x [..., m, k], y [..., k, n], before the adjoints.
struct BatchMatmul {
  bool adjoint_x = false, adjoint_y = false;
};

Fault read(OperatorReader& op, const tflite::Operator& o) {
  const auto* p = o.builtin_options_as_BatchMatMulOptions();
  if (!p) return op.wrong("no options");
  DEUTERON_TRY(op.int8(0));
  DEUTERON_TRY(op.int8(1));
  DEUTERON_TRY(op.int8_result());
  const Shape &a = op.shape(0), &b = op.shape(1);
  if (a.size() < 2 || b.size() < 2)
    return op.wrong("ranks", fmt::format("{}, {}", a.size(), b.size()), "at least 2");
  const auto end = [](const Shape& s, size_t back) { return s[s.size() - back]; };
  const i64 m = end(a, p->adj_x() ? 1 : 2), k = end(a, p->adj_x() ? 2 : 1);
  const i64 k2 = end(b, p->adj_y() ? 1 : 2), n = end(b, p->adj_y() ? 2 : 1);
  if (k != k2) return op.wrong("inner extents", fmt::format("{}", k2), fmt::format("{}", k));
  Shape expected(std::max(a.size(), b.size()), 1);
  for (size_t i = 0; i + 2 < expected.size(); ++i) {
    const size_t back = expected.size() - i;
    const i64 ea = back <= a.size() ? end(a, back) : 1, eb = back <= b.size() ? end(b, back) : 1;
    if (ea != eb && ea != 1 && eb != 1)
      return op.wrong("batch extents", fmt::format("{}", eb), fmt::format("{}", ea));
    expected[i] = std::max(ea, eb);
  }
  expected[expected.size() - 2] = m;
  expected.back() = n;
  DEUTERON_TRY(op.shape_of_y(expected));
  return op.push(batch_matmul_operation, BatchMatmul{p->adj_x(), p->adj_y()}, {op.in(0), op.in(1)});
}

// One call where the batch axes of both operands are one stride each; else one for each index of
// the outer batch axes.
Fault lower(Lowering& l, const Operation& s) {
  const auto& a = s.as<BatchMatmul>();
  const TensorId x = s.inputs[0], other = s.inputs[1];
  const Shape& y = l.shape(s.output);
  const size_t rank = y.size();
  const auto f = checked_multiplier(
      product_factor(l.type(x).quant, l.type(other).quant, s.y, Rounding::tflite, Quotient::wide),
      Ties::away, kScaleRule);
  if (!f) return l.bad_scale("batch_matmul");
  const Shape &xs = l.shape(x), x_own = l.strides(x), &os = l.shape(other),
              other_own = l.strides(other);
  MatMulCall base{};
  base.m = l.word(y[rank - 2]), base.n = l.word(y[rank - 1]),
  base.k = l.word(a.adjoint_x ? xs[xs.size() - 2] : xs.back());
  if (base.k > kMostInner) return l.wrong("inner extent", base.k, kMostInner, "batch_matmul");
  base.x_m_stride = l.word(x_own[xs.size() - (a.adjoint_x ? 1 : 2)]),
  base.x_k_stride = l.word(x_own[xs.size() - (a.adjoint_x ? 2 : 1)]);
  base.other_k_stride = l.word(other_own[os.size() - (a.adjoint_y ? 1 : 2)]),
  base.other_n_stride = l.word(other_own[os.size() - (a.adjoint_y ? 2 : 1)]);
  base.x_zero = l.type(x).quant.zero_point[0], base.other_zero = l.type(other).quant.zero_point[0],
  base.y_zero = s.y.zero_point[0];
  base.multiplier = f->value, base.shift = f->shift;
  fill_bounds(base, s);
  StridedAxes batch;
  const Shape xb = l.strides_over(x, y), ob = l.strides_over(other, y), yb = l.strides(s.output);
  batch.stride.resize(3);
  for (size_t i = 0; i + 2 < rank; ++i) {
    batch.extent.push_back(y[i]);
    batch.stride[0].push_back(xb[i]), batch.stride[1].push_back(ob[i]),
        batch.stride[2].push_back(yb[i]);
  }
  batch.simplify();
  const size_t axes = batch.extent.size();
  base.batch = l.word(batch.extent.back());
  base.x_batch_stride = base.batch == 1 ? 0 : l.word(batch.stride[0].back());
  base.other_batch_stride = base.batch == 1 ? 0 : l.word(batch.stride[1].back());
  const i64 outer = numel(std::span(batch.extent).first(axes - 1));
  for (i64 i = 0; i < outer; ++i) {
    i64 rest = i, at[3] = {};
    for (size_t k = axes - 1; k-- > 0;) {
      for (size_t o = 0; o < 3; ++o) at[o] += rest % batch.extent[k] * batch.stride[o][k];
      rest /= batch.extent[k];
    }
    MatMulCall c = base;
    l.locate(c.x, x, at[0]);
    l.locate(c.other, other, at[1]);
    l.locate(c.y, s.output, at[2]);
    l.push(Kind::kBatchMatMul, c);
  }
  return std::nullopt;
}

constexpr TfliteRow kRows[] = {
    {tflite::BuiltinOperator::BATCH_MATMUL, "batch_matmul", 2, 2, false, read},
};

}  // namespace

const OperationDef batch_matmul_operation = {
    .tflite = kRows,
    .fusing = kRequantizes,
    .placing = {.reads_gaps = reads_all_gaps,
                .writes_gaps = writes_no_gaps,
                .overwrites = 0,
                .share = nullptr,
                .without_kernel = {}},
    .lower = lower,
};

}  // namespace deuteron::neutron

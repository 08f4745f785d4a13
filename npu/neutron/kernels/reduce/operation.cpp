// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "npu/neutron/converter/lowering.h"
#include "npu/neutron/converter/operator_reader.h"
#include "npu/neutron/converter/scales.h"
#include "npu/neutron/kernels/reduce/call.h"
#include "ops/reduce/multiplier.h"

namespace deuteron::neutron {
namespace {

enum class ReduceFn : u8 { mean, sum, maximum, minimum };
struct Reduction {
  ReduceFn fn = ReduceFn::mean;
  std::vector<bool> axes;
};

template <ReduceFn kFn>
Fault read(OperatorReader& op, const tflite::Operator& o) {
  const auto* p = o.builtin_options_as_ReducerOptions();
  DEUTERON_TRY(op.int8(0));
  DEUTERON_TRY(op.int8_result());
  if (kFn == ReduceFn::maximum || kFn == ReduceFn::minimum) DEUTERON_TRY(op.same_quant(0));
  Reduction r{kFn, {}};
  DEUTERON_TRY(op.axes(1, &r.axes));
  const bool keep = p && p->keep_dims();
  Shape expected;
  for (size_t i = 0; i < r.axes.size(); ++i) {
    if (!r.axes[i]) expected.push_back(op.shape(0)[i]);
    else if (keep) expected.push_back(1);
  }
  DEUTERON_TRY(op.shape_of_y(expected));
  return op.push(reduce_operation, r, {op.in(0)});
}

bool is_identity(const Model& m, const Operation& s) {
  const Type& x = m.type(s.inputs[0]);
  return x.elements() == m.type(s.output).elements() && x.quant.scale[0] == s.y.scale[0] &&
         x.quant.zero_point[0] == s.y.zero_point[0] && !s.as<Reduction>().axes.empty();
}

Ending ending(const Operation& s) {
  const ReduceFn fn = s.as<Reduction>().fn;
  return fn == ReduceFn::mean || fn == ReduceFn::sum ? Ending::requantized : Ending::bounded;
}

static_assert(kMostSummed == deuteron::kMostSummed);

Fault lower(Lowering& l, const Operation& s) {
  const auto& a = s.as<Reduction>();
  const Type& x = l.type(s.inputs[0]);
  i64 count = 1;
  for (size_t i = 0; i < a.axes.size(); ++i) count *= a.axes[i] ? x.shape[i] : 1;
  if (count > kMostSummed) return l.wrong("elements of a reduction", count, kMostSummed, "reduce");
  Axes extent;
  std::vector<bool> flag;
  for (size_t i = 0; i < a.axes.size(); ++i) {
    const bool many = a.axes.size() > kMaxRank;
    if (many && x.shape[i] == 1) continue;
    const bool merge = many && !extent.empty() && flag.back() == a.axes[i];
    if (merge) extent.back() *= x.shape[i];
    else extent.push_back(x.shape[i]), flag.push_back(a.axes[i]);
  }
  if (extent.size() > kMaxRank)
    return l.wrong("axes", static_cast<i64>(extent.size()), kMaxRank, "reduce");
  ReduceCall c{};
  const size_t skip = kMaxRank - extent.size();
  std::fill(std::begin(c.extent), std::end(c.extent), 1);
  for (size_t i = 0; i < extent.size(); ++i) {
    c.extent[skip + i] = l.word(extent[i]);
    if (flag[i]) c.axes |= 1 << (skip + i);
  }
  Result<Factor> f = Factor{};
  if (a.fn == ReduceFn::mean || a.fn == ReduceFn::sum)
    f = reduce_multiplier(x.quant, s.y, a.fn == ReduceFn::mean ? count : 1, Ties::away, kScaleRule);
  if (!f) return l.bad_scale("reduce");
  c.x_zero = x.quant.zero_point[0], c.y_zero = s.y.zero_point[0], c.multiplier = f->value,
  c.shift = f->shift;
  fill_bounds(c, s);
  l.locate(c.x, s.inputs[0]);
  l.locate(c.y, s.output);
  const bool image = x.rank() == 4 && !a.axes[0] && a.axes[1] && a.axes[2] && !a.axes[3];
  Kind kind = Kind::kReduceMean;
  if (a.fn == ReduceFn::mean && image) kind = Kind::kGlobalAvgPool;
  if (a.fn == ReduceFn::sum) kind = Kind::kReduceSum;
  if (a.fn == ReduceFn::maximum) kind = Kind::kReduceMax;
  if (a.fn == ReduceFn::minimum) kind = Kind::kReduceMin;
  l.push(kind, c);
  return std::nullopt;
}

constexpr TfliteRow kRows[] = {
    {tflite::BuiltinOperator::MEAN, "mean", 2, 2, false, read<ReduceFn::mean>},
    {tflite::BuiltinOperator::SUM, "sum", 2, 2, false, read<ReduceFn::sum>},
    {tflite::BuiltinOperator::REDUCE_MAX, "reduce_max", 2, 2, false, read<ReduceFn::maximum>},
    {tflite::BuiltinOperator::REDUCE_MIN, "reduce_min", 2, 2, false, read<ReduceFn::minimum>},
};

}  // namespace

const OperationDef reduce_operation = {
    .tflite = kRows,
    .fusing = {.is_identity = is_identity,
               .ending = ending,
               .only_moves = false,
               .as_function = no_function,
               .fold = nullptr,
               .fuse = nullptr},
    .placing = kDense,
    .lower = lower,
};

}  // namespace deuteron::neutron

// SPDX-License-Identifier: Apache-2.0
#include "npu/neutron/kernels/table/operation.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "npu/neutron/converter/fuse.h"
#include "npu/neutron/converter/lowering.h"
#include "npu/neutron/converter/operator_reader.h"
#include "npu/neutron/kernels/rescale/call.h"
#include "npu/neutron/kernels/table/call.h"
#include "ops/unary/table.h"
#include "ops/unary/unary.h"

namespace deuteron::neutron {
namespace {

template <class F>
Fault read_function(OperatorReader& op, F f) {
  DEUTERON_TRY(op.int8(0));
  DEUTERON_TRY(op.int8_result());
  DEUTERON_TRY(op.shape_of_y(op.shape(0)));
  const auto entries = table_of(op.type(0).quant, op.y().quant, f);
  Table t;
  std::copy(entries.begin(), entries.end(), t.entry.begin());
  return op.push(table_operation, t, {op.in(0)});
}

template <UnaryFn kFn>
Fault read_unary(OperatorReader& op, const tflite::Operator&) {
  return read_function(op, [](float x) { return evaluate(kFn, x, 0); });
}

template <int kLow, int kHigh>  // kHigh 0: no upper bound
Fault read_bounded(OperatorReader& op, const tflite::Operator&) {
  const auto from = static_cast<float>(kLow),
             to = kHigh == 0 ? std::numeric_limits<float>::infinity() : static_cast<float>(kHigh);
  return read_function(op, [=](float x) { return std::min(std::max(x, from), to); });
}

Fault read_leaky_relu(OperatorReader& op, const tflite::Operator& o) {
  const auto* p = o.builtin_options_as_LeakyReluOptions();
  if (!p || !std::isfinite(p->alpha())) return op.wrong("no slope");
  return read_function(op, [&](float x) { return evaluate(UnaryFn::leaky_relu, x, p->alpha()); });
}

bool is_identity(const Model&, const Operation& s) {
  const Table& t = s.as<Table>();
  for (i32 q = -128; q <= 127; ++q)
    if (t.entry[q + 128] != q) return false;
  return true;
}

// table -> table   becomes   one table.
bool join_tables(Model& m, Operation& before, Operation& s) {
  const Table &first = before.as<Table>(), &second = s.as<Table>();
  Table both;
  for (size_t i = 0; i < 256; ++i) both.entry[i] = second.entry[first.entry[i] + 128];
  s.attributes = both;
  s.inputs = before.inputs;
  vanish(m, before.origins, fmt::format("one table with {}", name_in_reports(m, s)));
  join_origins(s, before);
  before.output = kNoTensor;
  return true;
}

// x -> table   becomes   bounds of the operation before. Refused when bits would change: the table
// must be a bound (after a change of zero point) for every value that the operation before can
// give.
bool become_bounds(Model& m, Operation& before, Operation& s) {
  const Ending ending = before.def->fusing.ending(before);
  if (ending == Ending::plain) return false;
  const Table& t = s.as<Table>();
  const Quant &from = m.type(s.inputs[0]).quant, &to = s.y;
  i32 shift = 0;
  if (ending == Ending::requantized && from.scale[0] == to.scale[0])
    shift = to.zero_point[0] - from.zero_point[0];
  i32 low = 127, high = -128;
  for (i32 q = before.low; q <= before.high; ++q)
    low = std::min<i32>(low, t.entry[q + 128]), high = std::max<i32>(high, t.entry[q + 128]);
  for (i32 q = before.low; q <= before.high; ++q)
    if (t.entry[q + 128] != std::clamp(q + shift, low, high)) return false;
  const i32 zero = before.y.zero_point[0] + shift;
  if (zero < -128 || zero > 127) return false;
  before.y.zero_point[0] = zero;
  before.low = std::clamp(before.low + shift, low, high);
  before.high = std::clamp(before.high + shift, low, high);
  before.output = s.output;
  vanish(m, s.origins, fmt::format("a bound of {}", name_in_reports(m, before)));
  join_origins(before, s);
  s.output = kNoTensor;
  return true;
}

// view -> table   becomes   table -> view, so that the table meets what made the value. Refused
// when somebody else reads that.
bool go_before_view(Model& m, const TensorUses& uses, Operation& before, Operation& s) {
  const TensorId x = before.inputs[0];
  Operation* maker = before.def->fusing.only_moves ? maker_of_operand(m, uses, before) : nullptr;
  if (!maker || !uses.read_once(x)) return false;
  if (maker->def->fusing.ending(*maker) == Ending::plain && maker->def != &table_operation)
    return false;
  const TensorId middle = m.add_tensor(m.tensors[s.output].name + " before its new shape",
                                       {DType::s8, m.type(x).shape, m.type(s.output).quant});
  Operation table = s, view = before;
  table.inputs = {x};
  table.output = middle;
  view.inputs = {middle};
  view.output = s.output;
  view.y = m.type(s.output).quant;
  before = table;
  s = view;
  return true;
}

// Refused when somebody else reads the operand.
bool fold(Model& m, const TensorUses& uses, Operation& s) {
  Operation* before = maker_of_operand(m, uses, s);
  if (!before || !uses.read_once(s.inputs[0])) return false;
  if (before->def == &table_operation) return join_tables(m, *before, s);
  return become_bounds(m, *before, s) || go_before_view(m, uses, *before, s);
}

// A table that only bounds needs no table.
Fault lower(Lowering& l, const Operation& s) {
  const auto& a = s.as<Table>();
  const Type& x = l.type(s.inputs[0]);
  const auto [low, high] = std::minmax_element(a.entry.begin(), a.entry.end());
  const i32 shift =
      x.quant.scale[0] == s.y.scale[0] ? s.y.zero_point[0] - x.quant.zero_point[0] : 0;
  bool bounds_only = true;
  for (i32 q = -128; q <= 127; ++q)
    bounds_only &= a.entry[q + 128] == std::clamp<i32>(q + shift, *low, *high);
  if (bounds_only) {
    RescaleCall c{};
    c.count = l.word(x.elements());
    c.x_zero = shift ? x.quant.zero_point[0] : 0, c.y_zero = shift ? s.y.zero_point[0] : 0;
    c.multiplier = 1 << 30, c.shift = 1;  // times 1
    c.y_min = *low, c.y_max = *high;
    l.locate(c.x, s.inputs[0]);
    l.locate(c.y, s.output);
    l.push(Kind::kGlobalBiasScale, c);
    return std::nullopt;
  }
  TableCall c{};
  c.count = l.word(x.elements());
  l.locate(c.x, s.inputs[0]);
  l.locate(c.y, s.output);
  l.constant(c.table, {reinterpret_cast<const u8*>(a.entry.data()),
                       reinterpret_cast<const u8*>(a.entry.data()) + 256});
  l.push(Kind::kTable, c);
  return std::nullopt;
}

constexpr TfliteRow kRows[] = {
    {tflite::BuiltinOperator::LOGISTIC, "logistic", 1, 1, false, read_unary<UnaryFn::sigmoid>},
    {tflite::BuiltinOperator::TANH, "tanh", 1, 1, false, read_unary<UnaryFn::tanh>},
    {tflite::BuiltinOperator::HARD_SWISH, "hard_swish", 1, 1, false,
     read_unary<UnaryFn::hardswish>},
    {tflite::BuiltinOperator::ABS, "abs", 1, 1, false, read_unary<UnaryFn::abs>},
    {tflite::BuiltinOperator::NEG, "neg", 1, 1, false, read_unary<UnaryFn::neg>},
    {tflite::BuiltinOperator::EXP, "exp", 1, 1, false, read_unary<UnaryFn::exp>},
    {tflite::BuiltinOperator::LOG, "log", 1, 1, false, read_unary<UnaryFn::log>},
    {tflite::BuiltinOperator::SQRT, "sqrt", 1, 1, false, read_unary<UnaryFn::sqrt>},
    {tflite::BuiltinOperator::RSQRT, "rsqrt", 1, 1, false, read_unary<UnaryFn::rsqrt>},
    {tflite::BuiltinOperator::QUANTIZE, "quantize", 1, 1, false, read_unary<UnaryFn::identity>},
    {tflite::BuiltinOperator::RELU, "relu", 1, 1, false, read_bounded<0, 0>},
    {tflite::BuiltinOperator::RELU6, "relu6", 1, 1, false, read_bounded<0, 6>},
    {tflite::BuiltinOperator::RELU_N1_TO_1, "relu_n1_to_1", 1, 1, false, read_bounded<-1, 1>},
    {tflite::BuiltinOperator::RELU_0_TO_1, "relu_0_to_1", 1, 1, false, read_bounded<0, 1>},
    {tflite::BuiltinOperator::LEAKY_RELU, "leaky_relu", 1, 1, false, read_leaky_relu},
};

}  // namespace

const OperationDef table_operation = {
    .tflite = kRows,
    .fusing = {.is_identity = is_identity,
               .ending = plain_ending,
               .only_moves = false,
               .as_function = no_function,
               .fold = fold,
               .fuse = nullptr},
    .placing = {.reads_gaps = reads_no_gaps,
                .writes_gaps = writes_no_gaps,
                .overwrites = 1,
                .share = nullptr,
                .without_kernel = {}},
    .lower = lower,
};

}  // namespace deuteron::neutron

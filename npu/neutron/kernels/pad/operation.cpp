// SPDX-License-Identifier: Apache-2.0
#include "npu/neutron/kernels/pad/operation.h"

#include <algorithm>

#include "npu/neutron/converter/fuse.h"
#include "npu/neutron/converter/lowering.h"
#include "npu/neutron/converter/operator_reader.h"
#include "npu/neutron/kernels/copy/lower.h"
#include "npu/neutron/kernels/pad/call.h"

namespace deuteron::neutron {
namespace {

Fault read_paddings(OperatorReader& op, Padding* p) {
  DEUTERON_TRY(op.same_quant_int8());
  std::vector<i64> given;
  DEUTERON_TRY(op.ints(1, &given));
  const Shape& x = op.shape(0);
  if (op.shape(1) != Shape{static_cast<i64>(x.size()), 2})
    return op.wrong("shape of the paddings", to_text(op.shape(1)), fmt::format("{},2", x.size()));
  Shape expected = x;
  for (size_t i = 0; i < x.size(); ++i) {
    const i64 before = given[i * 2], after = given[i * 2 + 1];
    if (before < 0 || after < 0 || before > kMostExtent || after > kMostExtent)
      return op.wrong("padding", fmt::format("{}, {}", before, after),
                      fmt::format("0..{}", kMostExtent));
    p->before.push_back(before);
    p->after.push_back(after);
    expected[i] += before + after;
  }
  return op.shape_of_y(expected);
}

template <bool kWithValue>
Fault read(OperatorReader& op, const tflite::Operator&) {
  Padding p;
  DEUTERON_TRY(read_paddings(op, &p));
  p.value = op.y().quant.zero_point[0];
  if (kWithValue && op.has(2)) {
    DEUTERON_TRY(op.int8(2));
    if (!op.is_constant(2) || op.type(2).elements() != 1)
      return op.wrong("the padding's value must be one constant");
    p.value = op.int8_data(2)[0];
  }
  return op.push(pad_operation, p, {op.in(0)});
}

Fault read_mirror(OperatorReader& op, const tflite::Operator& o) {
  const auto* m = o.builtin_options_as_MirrorPadOptions();
  if (!m) return op.wrong("no options");
  Padding p;
  if (m->mode() != tflite::MirrorPadMode::REFLECT && m->mode() != tflite::MirrorPadMode::SYMMETRIC)
    return op.wrong("unknown mode", fmt::format("{}", static_cast<int>(m->mode())),
                    "REFLECT or SYMMETRIC");
  p.fn = m->mode() == tflite::MirrorPadMode::REFLECT ? PadFn::reflect : PadFn::symmetric;
  DEUTERON_TRY(read_paddings(op, &p));
  for (size_t i = 0; i < p.before.size(); ++i)
    if (const i64 most = op.shape(0)[i] - (p.fn == PadFn::reflect ? 1 : 0);
        p.before[i] > most || p.after[i] > most)
      return op.wrong("padding", fmt::format("{}, {}", p.before[i], p.after[i]),
                      fmt::format("{}", most));
  return op.push(pad_operation, p, {op.in(0)});
}

// mirror pad -> mirror pad of other axes   becomes   one. Refused when somebody else reads the
// middle.
bool fold(Model& m, const TensorUses& uses, Operation& s) {
  auto& a = s.as<Padding>();
  Operation* before = maker_of_operand(m, uses, s);
  if (!before || before->def != &pad_operation || !uses.read_once(s.inputs[0])) return false;
  const auto& b = before->as<Padding>();
  if (a.fn == PadFn::value || a.fn != b.fn) return false;
  for (size_t i = 0; i < a.before.size(); ++i)
    if (a.before[i] + a.after[i] > 0 && b.before[i] + b.after[i] > 0) return false;
  for (size_t i = 0; i < a.before.size(); ++i) a.before[i] += b.before[i], a.after[i] += b.after[i];
  s.inputs = before->inputs;
  vanish(m, before->origins, fmt::format("one mirrored padding with {}", name_in_reports(m, s)));
  join_origins(s, *before);
  before->output = kNoTensor;
  return true;
}

Fault lower_value(Lowering& l, const Operation& s, const Padding& a) {
  const Shape& x = l.shape(s.inputs[0]);
  Axes extent, before, after;
  for (size_t i = 0; i < x.size(); ++i) {
    // An axis without padding goes into the one around it.
    if (!extent.empty() && a.before[i] == 0 && a.after[i] == 0 && x.size() > kMaxRank) {
      extent.back() *= x[i], before.back() *= x[i], after.back() *= x[i];
    } else {
      extent.push_back(x[i]), before.push_back(a.before[i]), after.push_back(a.after[i]);
    }
  }
  if (extent.size() > kMaxRank)
    return l.wrong("axes", static_cast<i64>(extent.size()), kMaxRank, "pad");
  PadCall c{};
  std::fill(std::begin(c.extent), std::end(c.extent), 1);
  for (size_t i = 0; i < extent.size(); ++i) {
    const size_t to = kMaxRank - extent.size() + i;
    c.extent[to] = l.word(extent[i]), c.before[to] = l.word(before[i]),
    c.after[to] = l.word(after[i]);
  }
  c.value = a.value;
  l.locate(c.x, s.inputs[0]);
  l.locate(c.y, s.output);
  l.push(Kind::kPad, c);
  return std::nullopt;
}

// The inside first, then for each axis its mirrored planes, copied within the result: in one call
// those that lie as far beyond both ends.
Fault lower_mirror(Lowering& l, const Operation& s, const Padding& a) {
  const Shape& x = l.shape(s.inputs[0]);
  const Shape own = l.strides(s.inputs[0]), to = l.strides(s.output);
  i64 start = 0;
  for (size_t i = 0; i < x.size(); ++i) start += a.before[i] * to[i];
  lower_copy(l, Kind::kSlice, s.inputs[0], 0, s.output, start, {x, {own, to}});
  Shape filled = x;  // extents that are there, from `from` on
  i64 from = start;
  const i64 edge = a.fn == PadFn::reflect ? 1 : 0;
  for (size_t i = 0; i < x.size(); ++i) {
    for (i64 k = 1; k <= std::max(a.before[i], a.after[i]); ++k) {
      const i64 source[2] = {k - 1 + edge, x[i] - k - edge}, target[2] = {-k, x[i] - 1 + k};
      const size_t first = k <= a.before[i] ? 0 : 1, last = k <= a.after[i] ? 1 : 0;
      Shape extent = filled, x_step = to, y_step = to;
      extent[i] = 1;
      // Where their sources are in the other order, one after the other: steps go forwards.
      const bool at_once = first < last && source[0] <= source[1];
      if (at_once) {
        extent[i] = 2;
        x_step[i] = (source[1] - source[0]) * to[i], y_step[i] = (target[1] - target[0]) * to[i];
      }
      for (size_t end = first; end <= (at_once ? first : last); ++end)
        lower_copy(l, Kind::kSlice, s.output, from + source[end] * to[i], s.output,
                   from + target[end] * to[i], {extent, {x_step, y_step}});
    }
    filled[i] += a.before[i] + a.after[i];
    from -= a.before[i] * to[i];
  }
  return std::nullopt;
}

Fault lower(Lowering& l, const Operation& s) {
  const auto& a = s.as<Padding>();
  return a.fn == PadFn::value ? lower_value(l, s, a) : lower_mirror(l, s, a);
}

constexpr TfliteRow kRows[] = {
    {tflite::BuiltinOperator::PAD, "pad", 2, 2, false, read<false>},
    {tflite::BuiltinOperator::PADV2, "padv2", 3, 3, false, read<true>},
    {tflite::BuiltinOperator::MIRROR_PAD, "mirror_pad", 2, 2, false, read_mirror},
};

}  // namespace

const OperationDef pad_operation = {
    .tflite = kRows,
    .fusing = {.is_identity = same_shape,
               .ending = plain_ending,
               .only_moves = false,
               .as_function = no_function,
               .fold = fold,
               .fuse = nullptr},
    .placing = kDense,
    .lower = lower,
};

}  // namespace deuteron::neutron

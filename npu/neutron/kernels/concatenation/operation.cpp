// SPDX-License-Identifier: Apache-2.0
#include "npu/neutron/converter/operator_reader.h"
#include "npu/neutron/converter/sharing.h"
#include "npu/neutron/kernels/copy/lower.h"

namespace deuteron::neutron {
namespace {

struct Concatenation {
  i64 axis = 0;
};

Fault read(OperatorReader& op, const tflite::Operator& o) {
  const auto* p = o.builtin_options_as_ConcatenationOptions();
  if (!p) return op.wrong("no options");
  DEUTERON_TRY(op.int8_result());
  const i64 rank = op.y().rank();
  i64 axis = p->axis();
  if (axis < -rank || axis >= rank)
    return op.wrong("axis", fmt::format("{}", axis), fmt::format("below {}", rank));
  if (axis < 0) axis += rank;
  Shape expected = op.y().shape;
  expected[axis] = 0;
  std::vector<TensorId> parts;
  for (size_t i = 0; i < op.operands(); ++i) {
    parts.push_back(op.in(i));
    DEUTERON_TRY(op.int8(i));
    DEUTERON_TRY(op.same_quant(i));
    Shape part = op.shape(i);
    if (part.size() != expected.size())
      return op.wrong("rank of a part", fmt::format("{}", part.size()), fmt::format("{}", rank));
    expected[axis] += part[axis];
    part[axis] = expected[axis];
    if (part != expected)
      return op.wrong("shape of a part", to_text(op.shape(i)), to_text(op.y().shape));
  }
  DEUTERON_TRY(op.shape_of_y(expected));
  Operation s;
  DEUTERON_TRY(op.activation(p->fused_activation_function(), &s));
  if (s.low != -128 || s.high != 127) return op.wrong("a fused activation is not supported here");
  return op.push(concatenation_operation, Concatenation{axis}, std::move(parts));
}

bool is_identity(const Model&, const Operation& s) { return s.inputs.size() == 1; }

bool writes_gaps(const Model& m, const Operation& s) {
  return s.as<Concatenation>().axis + 1 == m.type(s.output).rank();
}

std::vector<bool> share(Sharing& sharing, size_t operation) {
  const Operation& s = sharing.operation(operation);
  std::vector<bool> parts;
  for (size_t p = 0; p < s.inputs.size(); ++p)
    parts.push_back(sharing.as_part(operation, s.as<Concatenation>().axis, p));
  return parts;
}

Fault lower(Lowering& l, const Operation& s) {
  const i64 axis = s.as<Concatenation>().axis;
  const Shape to = l.strides(s.output);
  i64 before = 0;
  for (size_t p = 0; p < s.inputs.size(); ++p) {
    const Shape& part = l.shape(s.inputs[p]);
    if (!l.lies_there(p))
      lower_copy(l, Kind::kStridedSliceConcat, s.inputs[p], 0, s.output, before * to[axis],
                 {part, {l.strides(s.inputs[p]), to}});
    before += part[axis];
  }
  return std::nullopt;
}

constexpr TfliteRow kRows[] = {
    {tflite::BuiltinOperator::CONCATENATION, "concatenation", 1, 1 << 12, false, read},
};

}  // namespace

const OperationDef concatenation_operation = {
    .tflite = kRows,
    .fusing = {.is_identity = is_identity,
               .ending = plain_ending,
               .only_moves = false,
               .as_function = no_function,
               .fold = nullptr,
               .fuse = nullptr},
    .placing = {.reads_gaps = reads_all_gaps,
                .writes_gaps = writes_gaps,
                .overwrites = 0,
                .share = share,
                .without_kernel = "its parts are made in place"},
    .lower = lower,
};

}  // namespace deuteron::neutron

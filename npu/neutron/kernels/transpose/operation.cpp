// SPDX-License-Identifier: Apache-2.0
#include "npu/neutron/converter/fuse.h"
#include "npu/neutron/converter/operator_reader.h"
#include "npu/neutron/kernels/copy/lower.h"

namespace deuteron::neutron {
namespace {

struct Transposition {
  Axes perm;  // y axis i is x axis perm[i]
};

Fault read(OperatorReader& op, const tflite::Operator&) {
  DEUTERON_TRY(op.same_quant_int8());
  Transposition t;
  DEUTERON_TRY(op.ints(1, &t.perm));
  const Shape& x = op.shape(0);
  std::vector<bool> seen(x.size());
  Shape expected;
  if (t.perm.size() != x.size())
    return op.wrong("entries of the permutation", fmt::format("{}", t.perm.size()),
                    fmt::format("{}", x.size()));
  for (i64& a : t.perm) {
    if (a < 0) a += static_cast<i64>(x.size());
    if (a < 0 || a >= static_cast<i64>(x.size()) || seen[a])
      return op.wrong("not a permutation", to_text(t.perm), to_text(x));
    seen[a] = true;
    expected.push_back(x[a]);
  }
  DEUTERON_TRY(op.shape_of_y(expected));
  return op.push(transpose_operation, t, {op.in(0)});
}

// The same shape without regard to axes of extent 1.
bool is_identity(const Model& m, const Operation& s) {
  const Shape& x = m.type(s.inputs[0]).shape;
  i64 last = -1;
  for (const i64 a : s.as<Transposition>().perm) {
    if (x[a] == 1) continue;
    if (a < last) return false;
    last = a;
  }
  return true;
}

// transpose -> transpose   becomes   one. Refused when somebody else reads the middle.
bool fold(Model& m, const TensorUses& uses, Operation& s) {
  Operation* before = maker_of_operand(m, uses, s);
  if (!before || before->def != &transpose_operation || !uses.read_once(s.inputs[0])) return false;
  for (i64& a : s.as<Transposition>().perm) a = before->as<Transposition>().perm[a];
  s.inputs = before->inputs;
  vanish(m, before->origins, fmt::format("one transposition with {}", name_in_reports(m, s)));
  join_origins(s, *before);
  before->output = kNoTensor;
  return true;
}

Fault lower(Lowering& l, const Operation& s) {
  const Shape own = l.strides(s.inputs[0]);
  Shape turned;
  for (const i64 axis : s.as<Transposition>().perm) turned.push_back(own[axis]);
  lower_copy(l, Kind::kTransposeCHW, s.inputs[0], 0, s.output, 0,
             {l.shape(s.output), {turned, l.strides(s.output)}});
  return std::nullopt;
}

constexpr TfliteRow kRows[] = {
    {tflite::BuiltinOperator::TRANSPOSE, "transpose", 2, 2, false, read},
};

}  // namespace

const OperationDef transpose_operation = {
    .tflite = kRows,
    .fusing = {.is_identity = is_identity,
               .ending = plain_ending,
               .only_moves = true,
               .as_function = no_function,
               .fold = fold,
               .fuse = nullptr},
    .placing = kWithGaps,
    .lower = lower,
};

}  // namespace deuteron::neutron

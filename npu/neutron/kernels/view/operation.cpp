// SPDX-License-Identifier: Apache-2.0
#include "npu/neutron/converter/operator_reader.h"
#include "npu/neutron/converter/sharing.h"
#include "npu/neutron/kernels/copy/lower.h"

namespace deuteron::neutron {
namespace {

// The same bytes under another shape.
Fault read(OperatorReader& op, const tflite::Operator&) {
  DEUTERON_TRY(op.same_quant_int8());
  if (op.type(0).elements() != op.y().elements())
    return op.wrong("elements of the result", fmt::format("{}", op.y().elements()),
                    fmt::format("{}", op.type(0).elements()));
  return op.push(view_operation, {}, {op.in(0)});
}

std::vector<bool> share(Sharing& sharing, size_t operation) {
  return {sharing.as_view(sharing.operation(operation))};
}

Fault lower(Lowering& l, const Operation& s) {
  const Shape& x = l.shape(s.inputs[0]);
  Shape dense(x.size(), 1);
  for (size_t i = x.size(); i-- > 1;) dense[i - 1] = dense[i] * x[i];
  lower_copy(l, Kind::kSlice, s.inputs[0], 0, s.output, 0, {x, {l.strides(s.inputs[0]), dense}});
  return std::nullopt;
}

constexpr TfliteRow kRows[] = {
    {tflite::BuiltinOperator::RESHAPE, "reshape", 1, 2, false, read},
    {tflite::BuiltinOperator::SQUEEZE, "squeeze", 1, 1, false, read},
    {tflite::BuiltinOperator::EXPAND_DIMS, "expand_dims", 2, 2, false, read},
};

}  // namespace

const OperationDef view_operation = {
    .tflite = kRows,
    .fusing = {.is_identity = never_identity,
               .ending = plain_ending,
               .only_moves = true,
               .as_function = no_function,
               .fold = nullptr,
               .fuse = nullptr},
    .placing = {.reads_gaps = reads_no_gaps,
                .writes_gaps = writes_no_gaps,
                .overwrites = 0,
                .share = share,
                .without_kernel = kSameBytes},
    .lower = lower,
};

}  // namespace deuteron::neutron

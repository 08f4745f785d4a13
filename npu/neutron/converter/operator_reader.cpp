// SPDX-License-Identifier: Apache-2.0
// See operator_reader.h.
#include "npu/neutron/converter/operator_reader.h"

#include <algorithm>

namespace deuteron::neutron {

Fault OperatorReader::push(const OperationDef& def, std::any attributes,
                           std::vector<TensorId> inputs, Operation s) {
  s.def = &def;
  s.attributes = std::move(attributes);
  s.inputs = std::move(inputs);
  s.output = out_;
  s.y = y().quant;
  s.origins = {index_};
  model_.operations.push_back(std::move(s));
  return std::nullopt;
}

TensorId OperatorReader::push_before(const OperationDef& def, std::any attributes,
                                     std::vector<TensorId> inputs, std::string name, Type type) {
  const TensorId result = out_;
  out_ = model_.add_tensor(model_.tensors[result].name + std::move(name), std::move(type));
  const TensorId middle = out_;
  push(def, std::move(attributes), std::move(inputs));
  out_ = result;
  return middle;
}

static const TfliteRow* row_of(i32 builtin) {
  for (const OperationDef* def : operation_defs())
    for (const TfliteRow& row : def->tflite)
      if (static_cast<i32>(row.builtin) == builtin) return &row;
  return nullptr;
}

Fault OperatorReader::op(const tflite::Operator& o, i32 index, i32 builtin) {
  rule_ = "operator";
  index_ = index;
  const auto ins = tflite::ints_of(o.inputs()), outs = tflite::ints_of(o.outputs());
  in_.assign(ins.begin(), ins.end());
  const TfliteRow* row = row_of(builtin);
  if (!row) return wrong("the NPU has no kernel for this operator");
  rule_ = row->rule;
  if (in_.size() < row->fewest || in_.size() > row->most)
    return wrong("operands", fmt::format("{}", in_.size()),
                 fmt::format("{}..{}", row->fewest, row->most));
  if (outs.size() != 1) return wrong("results", fmt::format("{}", outs.size()), "1");
  out_ = outs[0];
  for (size_t i = 0; i < in_.size(); ++i)
    if (in_[i] == kNoTensor && !(row->optional_last && i + 1 == row->most))
      return wrong(fmt::format("operand {} is left out", i));
  return row->read(*this, o);
}

}  // namespace deuteron::neutron

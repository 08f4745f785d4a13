// SPDX-License-Identifier: Apache-2.0
#include "ops/form.h"

#include <fmt/format.h>

#include <limits>
#include <numeric>

#include "base/check.h"
#include "ops/int16.h"

namespace deuteron {

Type result_type(const Op& op, TypeView in, Quant quant) {
  Result<std::vector<Type>> inferred = infer(op, in);
  DEUTERON_CHECK(inferred && inferred->size() == 1,
                 fmt::format("{}: {} {} {}", name_of(op), inferred.why.what, inferred.why.measured,
                             inferred.why.limit));
  Type result = (*inferred)[0];
  result.quant = std::move(quant);
  if (Type wider = result; result.quant.high > std::numeric_limits<int8_t>::max()) {
    wider.dtype = DType::s16;
    if (may_be_int16_result(op, result, wider)) return wider;
  }
  return result;
}

std::vector<ValueId> FormBuilder::inputs() const {
  std::vector<ValueId> ids(operands());
  std::iota(ids.begin(), ids.end(), 0);
  return ids;
}

const Type& FormBuilder::type(ValueId v) const {
  const auto k = static_cast<size_t>(v);
  return k < operands() ? *site_.operands[k].type : form_.values[k - operands()].type;
}

ValueId FormBuilder::constant(Type type, Constant data, std::string name) {
  DEUTERON_CHECK(type.bytes() == static_cast<i64>(data.bytes.size()),
                 fmt::format("{} with {} bytes", to_text(type), data.bytes.size()));
  form_.values.push_back({std::move(name), std::move(type), std::move(data)});
  return static_cast<ValueId>(operands() + form_.values.size()) - 1;
}

ValueId FormBuilder::add(Op op, std::vector<ValueId> inputs, Quant quant, std::string name) {
  std::vector<const Type*> types;
  for (const ValueId v : inputs) types.push_back(&type(v));
  Type result = result_type(op, TypeView(types), std::move(quant));
  return add_typed(std::move(op), std::move(inputs), std::move(result), std::move(name));
}

ValueId FormBuilder::add_typed(Op op, std::vector<ValueId> inputs, Type type, std::string name) {
  form_.values.push_back({std::move(name), std::move(type), std::nullopt});
  const auto output = static_cast<ValueId>(operands() + form_.values.size()) - 1;
  form_.steps.push_back({std::move(op), std::move(inputs), output});
  return output;
}

bool FormBuilder::finish(ValueId result) {
  form_.result = result;
  return true;
}

bool FormBuilder::finish(Op op, std::vector<ValueId> inputs) {
  return finish(add(std::move(op), std::move(inputs), result().quant));
}

std::optional<std::vector<float>> numbers_of(const FormOperand& operand) {
  const Type* type = operand.steps ? operand.steps : operand.type;
  const Constant* data = operand.steps ? operand.steps_data : operand.data;
  if (!data || type->quant.per_channel()) return std::nullopt;
  std::vector<float> numbers;
  if (type->dtype == DType::f32) {
    const std::span<const float> real = data->as<float>();
    numbers.assign(real.begin(), real.end());
  } else if (type->dtype == DType::s8 && !type->quant.empty()) {
    const Quant& q = type->quant;
    for (const int8_t step : data->as<int8_t>())
      numbers.push_back(static_cast<float>(step - q.zero_point[0]) * q.scale[0]);
  }
  if (numbers.empty()) return std::nullopt;
  return numbers;
}

}  // namespace deuteron

// SPDX-License-Identifier: Apache-2.0
// What an operator becomes: other operators, in the order of execution. A form is a plain value;
// ir/rewrite/forms.h puts it into a graph.
#pragma once
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "ops/all.h"

namespace deuteron {

// An operand as the form sees it.
struct FormOperand {
  const Type* type = nullptr;
  const Constant* data = nullptr;  // null: computed
  const std::string* name = nullptr;
  // The quantized value behind a dequantize, when the operand is one's result.
  const Type* steps = nullptr;
  const Constant* steps_data = nullptr;
};

// Where the operator stands.
struct FormSite {
  std::span<const FormOperand> operands;
  const Type* result = nullptr;
  const Type* result_steps = nullptr;  // the int8 type that every reader quantizes the result to;
                                       // null: somebody wants the float
  const std::string* name = nullptr;
  Isa isa = Isa::scalar;
  bool beside_npu = false;  // results shall have the NPU's bits, which are TFLite's: beside one,
                            // and of a model that came from there
  CmsisNn cmsis_nn = CmsisNn::at_dbf45dbf;
  // what stock firmware's kernels compute soonest, of forms with the same bits
  bool for_stock = false;
};

// Ids count the operands and then what has been added.
struct Form {
  struct Value {
    std::string name;  // empty: that of the operator's result
    Type type;
    std::optional<Constant> constant;
  };
  struct Step {
    Op op;
    std::vector<ValueId> inputs;
    ValueId output;
  };
  std::vector<Value> values;
  std::vector<Step> steps;
  ValueId result = -1;
  std::string reason;  // for the report, where nothing is left of the operator
};

// The type of the one result of an operator that is known to fit its operands, with the result's
// parameters.
Type result_type(const Op& op, TypeView in, Quant quant);

class FormBuilder {
 public:
  explicit FormBuilder(const FormSite& site) : site_(site) {}

  const FormSite& site() const { return site_; }
  size_t operands() const { return site_.operands.size(); }
  std::vector<ValueId> inputs() const;
  const Type& type(ValueId v) const;
  const Type& result() const { return *site_.result; }
  const Constant* data(ValueId operand) const {
    return site_.operands[static_cast<size_t>(operand)].data;
  }
  const std::string& name(ValueId operand) const {
    return *site_.operands[static_cast<size_t>(operand)].name;
  }
  const std::string& result_name() const { return *site_.name; }

  ValueId constant(Type type, Constant data, std::string name = {});
  template <class T>
  ValueId constant(DType dtype, Shape shape, std::vector<T> data, std::string name = {}) {
    return constant(Type{dtype, std::move(shape), {}}, constant_of(std::move(data)),
                    std::move(name));
  }
  // dtype and shape of the result are inferred (CHECK), the quantization parameters are `quant`.
  ValueId add(Op op, std::vector<ValueId> inputs, Quant quant = {}, std::string name = {});
  ValueId add_typed(Op op, std::vector<ValueId> inputs, Type type, std::string name = {});
  // The operator's result is this; true, so that a form can end with it.
  bool finish(ValueId result);
  bool finish(Op op, std::vector<ValueId> inputs);  // with the result's quantization
  void because(std::string reason) { form_.reason = std::move(reason); }

  Form take() { return std::move(form_); }

 private:
  const FormSite& site_;
  Form form_;
};

// The real numbers of an operand that is a constant, or that is dequantized from one; nothing when
// it is computed.
std::optional<std::vector<float>> numbers_of(const FormOperand&);

}  // namespace deuteron

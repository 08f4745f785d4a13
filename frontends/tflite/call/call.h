// SPDX-License-Identifier: Apache-2.0
// One operator of a .tflite model while it is imported: its options, operands and results. What the
// functions of the import table work with.
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "frontends/tflite/call/tensors.h"
#include "ir/graph.h"

namespace deuteron::tflite {

// What lives from one call to the next, and what an operator reads when its turn comes.
struct Variable {
  std::string name;                 // a handle's
  std::optional<Type> type;         // of what is read and assigned: one for all
  std::optional<Constant> initial;  // of that type; nothing: zeros
  ValueId before = -1;  // what the call before has left: float32 where it has steps; -1: not read
                        // before it is assigned
  ValueId now = -1;
  i32 writer = -1;  // operator
};

// What SPACE_TO_BATCH_ND has made of an image, without rounding.
struct BatchedImage {
  struct Side {
    i64 block, before, after;
  };
  ValueId image, value;
  Quant quant;              // of both
  std::vector<Side> sides;  // of the axes behind the batch
};

// Imports an operator on the tensors of the state as a part of operator `index` of the model.
using Visit = std::function<void(const Operator& op, i32 index)>;

// What is being made, in the order of the model's operators.
struct ImportState {
  const Model& model;
  std::vector<ModelTensor> tensors;
  i32 main;  // the subgraph that is the model; the others are what it runs
  std::vector<std::vector<ModelTensor>> others;  // by subgraph; of the main one empty
  Graph& graph;
  Diagnostics& diagnostics;
  i64 made_elements = 0;    // of constants that stand in no file
  i64 folded_elements = 0;  // fold.h
  std::vector<Variable> variables = {};
  Visit visit = {};
  std::vector<i32> running = {};  // subgraphs, each run by an operator of the one before
  i64 in_subgraphs = 0;  // operators and tensors of subgraphs, counted each time that they are run
  i32 unsure = 0;        // branches around the operator of which a computed condition picks one
  // by subgraph: something is wrong in it and reported, so it is not run again
  std::vector<bool> failed = {};
  std::vector<BatchedImage> batched = {};  // in the order of their values

  bool can_run(i32 subgraph) const {
    return subgraph >= 0 && subgraph < static_cast<i32>(others.size()) && subgraph != main;
  }
  std::string runnable() const;  // "1..3"
};

// Whether an operator takes and makes tensors of int16 steps (16x8 models), and with another zero
// point than 0.
enum class Int16 : u8 { refused, taken, any_zero };

// By subgraph: whether the model names it, or one that the model names.
std::vector<bool> named_subgraphs(const Model& model, i32 main);

// Every method may be called after a refusal and then does nothing; values are then -1, shapes
// empty, numbers 0. Test ok() before an answer steers anything that must be valid.
class Call {
 public:
  Call(ImportState& state, const Operator& op, i32 index, std::string builtin,
       Int16 int16 = Int16::refused);

  bool ok() const { return ok_; }
  const std::string& builtin() const { return builtin_; }  // "CONV_2D"
  void refuse(Refusal why, std::string fix = {});
  // Refuses when it does not hold.
  void require(bool condition, std::string_view what, std::string measured, std::string limit,
               std::string_view rule);

  // Of another kind than the builtin's, or left out: refused.
  template <class T>
  const T* options() {
    const T* found = nullptr;
    if constexpr (BuiltinOptions2Traits<T>::enum_value != BuiltinOptions2::NONE) {
      if (op_.builtin_options_2_type() == BuiltinOptions2Traits<T>::enum_value)
        found = static_cast<const T*>(op_.builtin_options_2());
    } else if (op_.builtin_options_type() == BuiltinOptionsTraits<T>::enum_value) {
      found = static_cast<const T*>(op_.builtin_options());
    }
    require(found != nullptr, "has no options of its kind", "", "", "tflite.operator.options");
    return ok_ ? found : nullptr;
  }

  // Operands and results by position.
  size_t operands() const { return in_.size(); }
  size_t results() const { return out_.size(); }
  void takes(size_t fewest, size_t most, size_t results = 1);
  bool has(size_t i) const { return i < in_.size() && in_[i] >= 0; }
  const Type& declared(size_t i);         // of operand i
  const Type& declared_result(size_t i);  // of result i
  bool is_constant(size_t i);
  bool is_made_of_constants(
      size_t i);  // or moves the elements of one, so that passes make it a constant
  const Quant& quant_of_int32(
      size_t i);  // of operand i; empty: it has no scale, or is not of int32
  const Quant& result_quant_of_int32(size_t i);  // of result i
  const Quant* intermediate_quant(
      size_t i);  // of a value that never leaves the operator; null: the file does not say it
  bool is_bytes(size_t i) const;  // operand i is uint8 in the file
  bool is_quantized_result(size_t i = 0) { return !declared_result(i).quant.empty(); }

  ValueId in(size_t i);    // float32 where it is float or quantized, else integers or truth values
  ValueId real(size_t i);  // float32; anything else is refused
  ValueId steps_value(size_t i);     // the steps themselves, of a quantized operand
  ValueId constant_value(size_t i);  // a constant as the file has it, int16 too
  // A bias beside int8 or int16 operands: its int32 or int64 in steps of x.scale * weight.scale; or
  // float32.
  ValueId bias(size_t i, const Type& x, const Type& weight, i64 channels);
  // Beside int16 operands the file says of which type the bias is, and the sums: int64 where it
  // says nothing. Where there is none, zeros of int32.
  ValueId bias_of_int16(size_t i, TensorType said, const Type& x, const Type& weight, i64 channels);
  std::vector<i64> integers(size_t i);      // of a constant
  std::vector<float> numbers(size_t i);     // of a constant of floats or steps, as real values
  std::span<const int8_t> steps(size_t i);  // of a quantized constant
  std::vector<float> scaled_integers(size_t i, double scale);  // of a constant of int32
  std::optional<bool> known_truth(size_t i);                   // of a constant of one truth value
  i64 axis(i64 value, i64 rank);
  Axes axes(size_t i, i64 rank);  // of a constant: ascending, each once

  const Shape& shape(ValueId v) const;
  i64 rank(ValueId v) const { return static_cast<i64>(shape(v).size()); }
  const Type& type(ValueId v) const;

  // New values. The suffix "" names a value as the operator's first result.
  ValueId constant(std::string_view suffix, Type type, Constant data);
  ValueId add(Op op, std::vector<ValueId> inputs, std::string_view suffix = {});
  std::vector<ValueId> add_all(Op op, std::vector<ValueId> inputs, std::string_view suffix = {});
  ValueId add_call(KernelCall call, std::vector<ValueId> inputs, Type type,
                   std::string_view suffix = {});
  std::vector<ValueId> add_calls(KernelCall call, std::vector<ValueId> inputs,
                                 std::vector<Type> types, std::string_view suffix = {});
  ValueId permute(ValueId x, Axes perm, std::string_view suffix = {});
  ValueId reshape(ValueId x, Shape shape, std::string_view suffix = {});
  // To the steps of the result and back: what TFLite computes next sees rounded values.
  ValueId rounded(ValueId v, std::string_view suffix = "rounded") {
    return rounded(v, declared_result(0).quant, suffix);
  }
  ValueId rounded(ValueId v, const Quant& quant,
                  std::string_view suffix);  // v, where there are no steps

  // Of what operators before this one have made. Null: of no operator, as an input or a constant.
  const Node* maker(ValueId v) const;
  std::vector<BatchedImage>& batched() { return state_.batched; }
  // An operator that also does the work of these.
  ValueId add_for(Op op, std::vector<ValueId> inputs, std::vector<ValueId> replaced,
                  std::string_view suffix = {});

  // Result i is v: in the steps of its tensor, if that has any. The shape must be the declared one.
  void result(ValueId v) { result(0, v); }
  void result(size_t i, ValueId v);
  // Numbers of two parts, float32 each. Nothing else takes or makes them.
  struct Complex {
    ValueId real, imaginary;
  };
  bool is_complex(size_t i) const;  // operand i
  Complex complex(size_t i);
  void complex_result(Complex z);
  // A result without elements: as one of several parts that are joined it says nothing.
  void leave_empty(size_t i = 0);
  bool is_empty(size_t i) const;  // operand i

  // Variables, by their handles: result 0, or an operand.
  void name_variable(const VarHandleOptions& options);
  ValueId variable(size_t handle);  // its content now, which is to be result 0
  void assign(size_t handle, size_t operand);
  void run_once(i32 subgraph);  // assigns what its variables begin with
  // An operand that keeps its content from call to call (`is_variable`), and what it is from now
  // on: of its type, steps included.
  ValueId kept(size_t i);
  void keep(size_t i, ValueId v);

  // What a subgraph of two numbers computes: its only operator; nothing where it gives the second
  // one. Another subgraph is refused.
  std::optional<BuiltinOperator> body_of(i32 subgraph);

  // Subgraphs in the place of this operator. A branch takes all operands but the first.
  void take_branch(i32 subgraph);
  void pick_branch(i32 yes, i32 no);  // both are run, and operand 0 picks
  void run_loop(i32 condition,
                i32 body);  // turn by turn, while the condition is made of constants and true

  std::string where() const;  // "net.tflite: CONV_2D `conv1` (operator 3 of subgraph 0)"

 private:
  void count_made(const std::vector<ValueId>& inputs,
                  i64 elements);  // of a result: refuses too many that no file holds
  std::optional<ValueId> real_part_of_steps(const Op& op, const std::vector<ValueId>& inputs,
                                            const Shape& to, std::string_view suffix);
  const GraphValue* steps_behind(ValueId v) const;            // null: not made of a constant
  ModelTensor* tensor(size_t i, bool takes_complex = false);  // operand; null: refused
  void fit_int16(const ModelTensor& t);
  ValueId steps_of(ModelTensor& t);
  ValueId value_of(ModelTensor& t);
  ValueId steps_to_real(ModelTensor& t);
  ValueId to_steps(ValueId v, const Quant& quant, std::string_view suffix);
  Variable* variable_of(const ModelTensor& handle);  // null: refused
  void fit(Variable& v, const Type& type);
  void assign_once(const ModelTensor& handle, const ModelTensor& value);
  void require_sure(
      std::string_view name);  // a state is written whatever a computed condition says

  bool can_run(i32 subgraph, size_t operands, size_t results);
  bool fits(const ModelTensor& given, const ModelTensor& wanted);
  std::vector<ModelTensor> given_from(size_t first);  // operands, as a subgraph takes them
  // The results of a subgraph that can_run(); nothing: refused.
  std::optional<std::vector<ModelTensor>> run_subgraph(i32 subgraph,
                                                       const std::vector<ModelTensor>& given);
  void become(size_t i, const ModelTensor& made);  // result i, as a subgraph has made it
  void pick(size_t i, ValueId condition, ModelTensor& yes, ModelTensor& no);
  std::optional<bool> goes_on(i32 condition, const std::vector<ModelTensor>& turn, i64 turns);

  ImportState& state_;
  const Operator& op_;
  i32 index_;
  std::string builtin_;
  Int16 int16_;
  std::span<const i32> in_, out_;
  bool ok_ = true;
};

}  // namespace deuteron::tflite

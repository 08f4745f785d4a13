// SPDX-License-Identifier: Apache-2.0
// One operator of an ONNX model while it is imported: its attributes, operands and results, and the
// operators of torch that it is written as. What the functions of the import table work with.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "frontends/onnx/call/state.h"

namespace deuteron::onnx {

// A tensor of the model, or one that was made on the way, by its name. Empty: none, or refused.
struct Operand {
  std::string name;
  explicit operator bool() const { return !name.empty(); }
};

// An argument of an operator of torch.
struct Arg : pt2::Argument {
  Arg(const Operand& tensor) { kind = Kind::tensor, text = tensor.name; }
  Arg(const std::vector<Operand>& tensors) {
    kind = Kind::tensors;
    for (const Operand& t : tensors) names.push_back(t.name);
  }
  Arg(i64 v) { kind = Kind::integer, integer = v; }
  Arg(int v) : Arg(static_cast<i64>(v)) {}
  Arg(double v) { kind = Kind::real, real = v; }
  Arg(bool v) { kind = Kind::boolean, integer = v; }
  Arg(const char* v) { kind = Kind::text, text = v; }
  Arg(const std::string& v) { kind = Kind::text, text = v; }
  Arg(const std::vector<i64>& v) { kind = Kind::integers, integers = v; }
  Arg(const std::vector<double>& v) { kind = Kind::reals, reals = v; }
  static Arg none() { return Arg(); }
  static Arg dtype(DType dtype);

 private:
  Arg() = default;
};
using Args = std::vector<std::pair<std::string, Arg>>;

// Every method may be called after a refusal and then does nothing; operands are then empty, shapes
// too, numbers 0. Test ok() before an answer steers anything that must be valid.
class Call {
 public:
  // `moves_elements`: quantized operands come as real numbers, and what is made of them gets their
  // steps again. Else they come as they are.
  Call(ImportState& state, const ModelNode& node, i32 source, bool moves_elements)
      : state_(state), node_(node), source_(source), moves_elements_(moves_elements) {}

  bool ok() const { return ok_; }
  std::string_view op() const { return node_.op; }
  i64 opset() const { return state_.model.opset(); }
  ImportState& state() { return state_; }
  void refuse(Refusal why, std::string fix = {});
  void give_up() { ok_ = false; }  // after what has been said elsewhere
  void require(bool condition, std::string_view what, std::string measured, std::string limit,
               std::string_view rule);

  // Attributes, with what stands for one that is left out.
  bool has_attribute(std::string_view name) const { return find(name) != nullptr; }
  i64 integer(std::string_view name, i64 otherwise);
  double number(std::string_view name, double otherwise);
  std::string text(std::string_view name, std::string_view otherwise);
  std::vector<i64> integers(std::string_view name);  // empty: left out
  const Attribute* attribute(std::string_view name) const { return find(name); }
  void need_attribute(std::string_view name);

  // Operands.
  size_t operands() const { return node_.inputs.size(); }
  bool has(size_t k) const { return k < node_.inputs.size() && !node_.inputs[k].empty(); }
  Operand operand(size_t k);  // refused when it is missing
  std::vector<Operand> all_operands();
  Shape shape(const Operand& x);
  i64 rank(const Operand& x) { return static_cast<i64>(shape(x).size()); }
  DType dtype(const Operand& x);
  Quant steps(const Operand& x);  // empty: no steps
  // Steps clamped to a range of the model's, which are `shift` more than ours.
  Operand narrowed(const Operand& x, i64 low, i64 high, i64 shift, std::string_view suffix);
  DType steps_dtype(const Operand& x);  // u8 or s8, of steps whose zero point is not given: u8 has
                                        // its at the low end
  bool is_known(const Operand& x);      // depends on no input of the model
  const Constant* integer_constant(const Operand& x);  // null where it is none, or none of integers
  std::optional<std::vector<i64>> known_integers(
      const Operand& x);  // elements of a constant of an integer type
  std::optional<std::vector<float>> known_numbers(const Operand& x);
  std::vector<i64> integers_of(size_t k,
                               std::string_view what);  // refused when they are not known: "axes"
  double number_of(size_t k, std::string_view what, double otherwise);

  i64 axis(i64 value, i64 rank);  // -rank..rank-1 made 0..rank-1
  std::vector<i64> axes(std::vector<i64> values, i64 rank);

  // Operators of torch. The suffix "" names the value after the node's result.
  Operand torch(std::string_view target, Args args, std::string_view suffix = {});
  std::vector<Operand> torch_all(std::string_view target, Args args, size_t results,
                                 std::string_view suffix = {});
  // For operators whose import asks what the model says of the result.
  Operand torch_as(std::string_view target, Args args, DType dtype, Shape shape,
                   std::string_view suffix = {});
  // By its portable kernel, whatever form torch's operator has in the graph.
  Operand kernel(std::string_view target, Args args, DType dtype, Shape shape,
                 std::string_view suffix);
  std::vector<Operand> torch_all_as(std::string_view target, Args args,
                                    const std::vector<Type>& types, std::string_view suffix = {});

  // New tensors.
  Operand numbers(std::string_view suffix, Shape shape, std::vector<float> data);
  Operand known(std::string_view suffix, Type type, Constant data);
  Operand known(std::string_view suffix, Type type,
                const std::vector<i64>& data);  // s64, s32 or b8

  bool may_make(i64 elements);  // of a constant that stands in no file: refuses above
                                // kMostMadeElements of the model

  // Results.
  size_t results() const { return node_.outputs.size(); }
  bool wants(size_t k) const { return k < node_.outputs.size() && !node_.outputs[k].empty(); }
  void result(const Operand& x) { result(0, x); }
  void result(size_t k, const Operand& x);
  void stands_in(size_t k, StandIn kind);
  void note_width(Element type) {
    state_.note_width(node_.outputs.empty() ? "" : node_.outputs[0], type);
  }

 private:
  const Attribute* find(std::string_view name) const;
  const Attribute* need(std::string_view name, Attribute::Kind kind, std::string_view expected);
  std::string value_name(std::string_view suffix) const;
  ValueId value_of(const Operand& x);
  Operand without_steps(const std::string& tensor);
  Operand with_steps(const Operand& x);
  std::vector<Operand> emit(std::string_view target, Args args, size_t results,
                            const std::vector<Type>* declared, std::string_view suffix,
                            bool by_kernel = false);

  ImportState& state_;
  const ModelNode& node_;
  i32 source_;
  bool moves_elements_;
  bool ok_ = true;
  Quant steps_;  // of an operand that came as real numbers
};

// Of two shapes by the rules of NumPy; refused where they do not fit.
Shape broadcast(Call& c, const Shape& a, const Shape& b);

}  // namespace deuteron::onnx

// SPDX-License-Identifier: Apache-2.0
// One operator of the model while it is imported: its arguments, operands and results. What the
// functions of the import table work with.
#pragma once
#include <algorithm>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "frontends/pt2/call/import_state.h"
#include "ir/graph.h"

namespace deuteron::pt2 {

// One node of the model while it is imported. Every method may be called after a refusal and then
// does nothing; values are then -1, shapes empty, numbers 0 and lists of the right length. Test
// ok() before an answer steers anything that must be valid.
class Call {
 public:
  Call(ImportState& state, const ProgramNode& node, i32 source, std::string_view base_target,
       bool in_place)
      : state_(state),
        node_(node),
        source_(source),
        base_target_(base_target),
        in_place_(in_place),
        outcomes_(std::max<size_t>(node.outputs.size(), 1)) {}

  const ProgramNode& node() const { return node_; }
  bool ok() const { return ok_; }
  bool is_in_place() const { return in_place_; }
  std::string_view target() const { return base_target_; }  // "aten.hardswish.default"
  std::string_view operator_name()
      const;  // "hardswish" for "aten.hardswish.default" and for its in-place form
  Graph& graph() { return state_.graph; }
  std::string name(std::string_view suffix = {}) const {  // "": the model's own
    const std::string base = part_ == Part::imaginary ? node_.name + ".imaginary" : node_.name;
    return suffix.empty() ? base : base + "." + std::string(suffix);
  }

  void refuse(Refusal why, std::string fix = {});
  // Refuses when a number is above the limit.
  void require(bool condition, std::string_view what, std::string measured, std::string limit,
               std::string_view rule);

  // Tells reports why the call is several operators here, where its form of one does not do.
  void tell_parts(std::string why) {
    state_.graph.sources[static_cast<size_t>(source_)].in_parts = std::move(why);
  }

  void warn(std::string_view what, std::string_view rule, std::string fix = {});

  // After an operand that only stands for a refused result: what is wrong with it has been said
  // already.
  void give_up_if_broken(ValueId v) {
    if (state_.is_broken(v)) ok_ = false;
  }

  // Refuses a call whose arguments are not of the kinds that torch's schema has, or that lacks one.
  void check_arguments();

  // Arguments by name, with the default of the operator where the model leaves one out.
  // as the model gives it; null: neither given nor known
  const Argument* argument(std::string_view name) { return find(name); }
  bool has(std::string_view argument);  // given and not none
  bool is_tensor(std::string_view argument);
  i64 integer(std::string_view argument);
  double number(std::string_view argument);  // integer, real or boolean
  bool boolean(std::string_view argument);
  std::string text(std::string_view argument);
  std::vector<i64> integers(std::string_view argument);
  std::vector<double> reals(std::string_view argument);
  HW pair(std::string_view argument, i64 lowest);  // one or two integers, each at least `lowest`
  i64 axis(std::string_view argument, i64 rank);   // -rank..rank-1 made 0..rank-1
  std::vector<i64> axes(std::string_view argument,
                        i64 rank);  // the same for a list; an error when one occurs twice
  i64 normalized_axis(i64 value, i64 rank);

  // Operands in the user's axes.
  ValueId tensor(std::string_view argument);  // float32; integer constants are converted
  std::vector<ValueId> tensors(std::string_view argument);  // a list of such
  std::vector<ValueId> optional_tensors(
      std::string_view argument);                 // a list of tensors of any dtype; -1: none
  ValueId any_tensor(std::string_view argument);  // any dtype
  ValueId operand(
      std::string_view argument);  // float32 tensor, or a number as a constant of rank 0
  ValueId parameter(std::string_view argument);  // float32 tensor that depends on no graph input
  const TensorMeta* meta(std::string_view argument);  // what the model says of a tensor operand
  // A parameter in storage order and that order; none when the operand is something else.
  struct Stored {
    const Weight* weight = nullptr;
    i32 parameter = -1;
  };
  Stored stored(std::string_view argument);

  const Shape& shape(ValueId v) const;
  i64 rank(ValueId v) const { return static_cast<i64>(shape(v).size()); }
  const Type& type(ValueId v) const;
  bool is_derived_from_constants(ValueId v) const { return state_.is_derived_from_constants(v); }
  bool is_constant(ValueId v) const { return v >= 0 && state_.graph.is_constant(v); }

  // The elements of a value that depends on no input, computed here; nothing for any other.
  std::optional<std::vector<float>> known_numbers(ValueId v);

  // Complex tensors are two values. Only importers that ask for them so can read them.
  struct Complex {
    ValueId re = -1, im = -1;
  };
  bool is_complex(std::string_view argument);  // a tensor, or a list with one
  bool touches_complex() const;                // some operand or result is complex
  Complex complex_tensor(std::string_view argument,
                         bool may_be_real = false);  // a real one has no imaginary part: -1
  std::vector<Complex> complex_tensors(
      std::string_view argument);  // a list of complex and real ones
  void complex_result(size_t index, Complex z);
  // Imports the real and then the imaginary part by an importer of real tensors. What is real is
  // the same for both.
  void import_parts(void (*import)(Call&));

  // New values. The suffix "" names a value as the model names the node.
  ValueId constant(std::string_view suffix, Shape shape, std::vector<float> data);
  ValueId constant_value(std::string name, Type type, Constant data);
  ValueId known_value(Type type, std::span<const float> numbers,
                      std::string_view suffix = {});  // f32, s64, s32 or b8
  ValueId parameter_value(const Stored& stored, Type type, const Constant& data) {
    return ok_ ? state_.parameter_value(stored.parameter, std::move(type), data) : -1;
  }
  ValueId add(Op op, std::vector<ValueId> inputs, std::string_view suffix = {});
  std::vector<ValueId> add_all(Op op, std::vector<ValueId> inputs,
                               std::string_view suffix = {});  // every result of the operator
  ValueId permute(ValueId x, Axes perm, std::string_view suffix = {});
  ValueId reshape(ValueId x, Shape shape, std::string_view suffix = {});

  // How the node ends: its results, or that it only passes an operand on. A result that is not set
  // cannot be read.
  void result(ValueId v) { result(0, v); }
  void result(size_t index, ValueId v);
  // A call of a portable kernel on values in the user's axes; refused when the runtime would refuse
  // it.
  std::vector<ValueId> add_call(KernelCall call, std::vector<ValueId> inputs,
                                std::vector<Type> types);
  // whether the model says the types of its results, as torch's does
  bool declares_results() const { return state_.declares_results; }
  const TensorMeta* result_meta(
      size_t index);  // what it says of one; null after a refusal. Refuses one of open sizes
  std::optional<DType> declared_dtype() {  // of the first one, where the model says it
    const bool says = declares_results() ||
                      (!node_.outputs.empty() && state_.program.tensors.contains(node_.outputs[0]));
    const TensorMeta* declared = ok_ && says ? declared_result(0) : nullptr;
    return declared ? declared->dtype : std::nullopt;
  }
  // Refuses any other than the model says: before elements are computed. A size that the model
  // leaves open is what it turns out to be here.
  bool check_declared_shape(size_t index, const Shape& shape);
  void size_result(i64 size);  // the result that is no tensor but a size
  bool drop_tested_size();     // the same where nothing but tests reads it: it is left open; false
                               // elsewhere
  void number_result(double value);  // likewise a real number
  // whether the one result is a real number
  bool gives_number() const { return node_.outputs.empty() && node_.numbers.size() == 1; }
  void
  refuse_computed_size();  // that of a result follows from elements which are computed from inputs
  bool may_make(i64 elements);       // of a constant that stands in no file: refuses above
                                     // kMostMadeElements of the model
  bool is_read(size_t index) const;  // whether anything in the model reads result `index`
  size_t result_count() const { return node_.outputs.size(); }
  void identity(std::string_view argument);
  ValueId converted(ValueId v, DType to);  // computed numbers, by a call

  // For the walk.
  // The result of an operator in place shows what its operand shows.
  void share_memory(const Meaning& m) {
    const ValueId value = outcomes_[0].value, imaginary = outcomes_[0].imaginary;
    outcomes_[0] = m;
    outcomes_[0].value = value, outcomes_[0].imaginary = imaginary, outcomes_[0].user_axes = -1,
    outcomes_[0].parameter = -1;
  }
  // value -1: there is no such result
  const Meaning& outcome(size_t index = 0) const { return outcomes_[index]; }
  void may_share_memory(std::string_view argument);  // the result may be a view of that operand
  ValueId value_of(const std::string&
                       tensor);  // in the user's axes; -1: cannot be read, which has been reported

 private:
  const Argument* given(std::string_view argument) const;  // null: the model leaves it out
  const Argument* find(std::string_view argument);         // null: neither given nor known
  const Argument* need(std::string_view argument, std::initializer_list<Argument::Kind> kinds,
                       std::string_view expected);
  Meaning* lookup(const std::string& tensor);
  void make_value(Meaning& m, const std::string& tensor);
  ValueId as_float_tensor(ValueId v, const std::string& tensor);
  ValueId known_integers(ValueId v, DType dtype);
  std::optional<std::vector<ValueId>> computed_now(const Op& op, const std::vector<ValueId>& inputs,
                                                   const std::vector<Type>& types,
                                                   std::string_view suffix);
  bool is_computed_now(std::span<const ValueId> inputs, std::span<const Type> types) const;
  // Counts what is computed now, and what will be of constants that grow: they are made, too.
  bool may_compute(std::span<const ValueId> inputs, std::span<const Type> results);
  const TensorMeta* declared_result(size_t index);
  void refuse_range(const std::string& range, const std::string& found);
  bool has_size(const Shape& shape,
                i64 least);  // refuses a result of other sizes, or of too many axes
  bool take_types(const Op& op, const std::vector<ValueId>& inputs, std::vector<Type>& results);

  enum class Part : u8 {
    none,
    real,
    imaginary
  };  // of complex tensors, while an importer of real ones works on it
  bool is_complex_tensor(const std::string& tensor) const;
  Complex complex_value(const std::string& tensor);
  bool require_real(const Meaning& m, const std::string& tensor);

  ImportState& state_;
  const ProgramNode& node_;
  i32 source_;
  std::string_view base_target_;
  bool in_place_;
  bool ok_ = true;
  Part part_ = Part::none;
  std::vector<Meaning> outcomes_;  // one for each result of the model's node
  std::vector<std::unique_ptr<Argument>> defaults_;
};

}  // namespace deuteron::pt2

// SPDX-License-Identifier: Apache-2.0
// Questions about an operator of any kind, answered from the facts of its OpDef.
#pragma once
#include "ops/all.h"

namespace deuteron {

OpFacts facts_of(const Op&);

inline bool is_layer(const Op& op) { return facts_of(op).family == Family::layer; }
// y = f(a, b) for each element, with broadcasting.
inline bool is_binary(const Op& op) { return facts_of(op).family == Family::binary; }
inline bool is_quantize_or_dequantize(const Op& op) {
  return facts_of(op).family == Family::border;
}
// y = f(x) for each element, whatever their order.
inline bool is_elementwise(const Op& op) {
  return facts_of(op).family == Family::elementwise || is_quantize_or_dequantize(op);
}
inline bool is_movement(const Op& op) { return facts_of(op).family == Family::movement; }
inline bool is_dequantize(const Op& op) {
  return is_quantize_or_dequantize(op) && facts_of(op).values == Values::same;
}
inline bool is_quantize(const Op& op) {
  return is_quantize_or_dequantize(op) && facts_of(op).values != Values::same;
}
// Nothing but another view of its operand.
inline bool is_same_storage(const Op& op) {
  const OpFacts facts = facts_of(op);
  return facts.values == Values::same && facts.storage == Storage::in_operand;
}
// A kernel call or a delegate.
inline bool is_lowered(const Op& op) { return facts_of(op).family == Family::lowered; }

// What a lowered node is; null: something else.
const KernelCall* call_of(const Op& op);
KernelCall* call_of(Op& op);
const Delegate* delegate_of(const Op& op);

// The bounds of an operator that has them; null for another.
Bounds* bounds_of(Op& op);
const Bounds* bounds_of(const Op& op);
// Bounds beside what the operator computes: not those of a clamp, which is nothing else.
inline bool has_bounds_beside(const Op& op) {
  const Bounds* bounds = bounds_of(op);
  return bounds && !bounds->none() && !is_elementwise(op);
}
// Those of a clamp; null for an operator that is more than bounds, or has none.
const Bounds* sole_bounds(const Op& op);
// The form of a recurrent layer; null for another operator.
RecurrentForm* recurrent_form(Op& op);
const RecurrentForm* recurrent_form(const Op& op);

// AxisRules and the other members of an OpDef, for an operator of any kind.
std::optional<Op> reordered(const Op& op, const Axes& perm);
std::optional<ImageWindow> window_of(const Op& op, TypeView in);
bool has_bands(const Op& op, TypeView in, TypeView out);
std::optional<Op> band_of(const Op& op, TypeView in, TypeView out, const RowBand&);
std::optional<i64> view_of(const Op& op, TypeView in);
// Of an operator that leaves out the first elements along one axis, and nothing else.
struct FirstLeftOut {
  i64 axis, count;
};
std::optional<FirstLeftOut> first_left_out(const Op& op, const Shape& x);
// Nothing: an operator that does something else.
std::optional<Repeat> repeat_of(const Op& op, const Shape& x);
// The order that a permute gives its operand's axes; null: another operator.
const Axes* permutation_of(const Op& op);
// Which of its functions an operator of several computes; empty: it has one.
std::string_view function_of(const Op& op);

class FormBuilder;
// parts: that of an operator whose header declares parts_form. rounded_parts: the same between int8
// values, with parameters for what is between, where the header declares rounded_parts_form.
enum class FormKind : u8 { simpler, kernel, last, portable, parts, rounded_parts };
bool has_form(const Op& op, FormKind kind);
bool write_form(const Op& op, FormKind kind, FormBuilder& builder);

struct AnyExample {
  std::string name;
  Op op;
  std::vector<Shape> operands;
};
// Of every operator, in the order of the list.
std::vector<AnyExample> all_examples();

}  // namespace deuteron

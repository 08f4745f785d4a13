// SPDX-License-Identifier: Apache-2.0
// Which results show the memory of an operand.
#include <algorithm>
#include <initializer_list>
#include <numeric>

#include "frontends/pt2/call/call.h"
#include "frontends/pt2/file/storage_order.h"

namespace deuteron::pt2 {

static bool is_contiguous(const TensorMeta& m) {
  Axes order(m.sizes.size());
  std::iota(order.begin(), order.end(), 0);
  return is_dense(m.sizes, m.strides, order);
}

static bool lie_alike(const TensorMeta& a, const TensorMeta& b) {
  if (a.sizes != b.sizes) return false;
  for (size_t axis = 0; axis < a.sizes.size(); ++axis)
    if (a.sizes[axis] != 1 && a.strides[axis] != b.strides[axis]) return false;
  return true;
}

static bool is_one_of(std::string_view name, std::initializer_list<std::string_view> names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// Some operators give a view where they can and else a copy. Which one it was, the strides of the
// model's tensors say.
static bool is_copy(std::string_view name, const TensorMeta& operand, const TensorMeta& made) {
  if (is_one_of(name, {"contiguous", "to", "type_as"})) return !lie_alike(operand, made);
  if (is_one_of(name, {"flatten", "ravel", "reshape", "reshape_as"}))
    return !is_contiguous(operand) && is_contiguous(made);
  return false;
}

// narrow_copy, permute_copy, ..: torch's forms of its views that never share memory.
static bool is_copying_form(std::string_view name) {
  constexpr std::string_view kEnd = "_copy";
  return name.size() > kEnd.size() && name.substr(name.size() - kEnd.size()) == kEnd;
}

void Call::may_share_memory(std::string_view argument) {
  const Argument* a = find(argument);
  if (!ok_ || !a || a->kind != Argument::Kind::tensor) return;
  const auto it = state_.meanings.find(a->text);
  if (it == state_.meanings.end()) return;
  if ((has("copy") && boolean("copy")) || is_copying_form(operator_name())) return;
  const auto operand = state_.program.tensors.find(a->text);
  const auto made = node_.outputs.empty() ? state_.program.tensors.end()
                                          : state_.program.tensors.find(node_.outputs[0]);
  const bool both = operand != state_.program.tensors.end() && made != state_.program.tensors.end();
  if (both && is_copy(operator_name(), operand->second, made->second)) return;
  for (size_t k = 0; k < outcomes_.size(); ++k) {
    Meaning& m = outcomes_[k];
    m.memory = it->second.memory, m.home = it->second.home;
    m.made_by = &node_, m.viewed = a->text, m.part = k;
  }
}

}  // namespace deuteron::pt2

// SPDX-License-Identifier: Apache-2.0
// Variables of a .tflite model: a handle names one, and every operator with that handle reads or
// writes it when its turn comes.
#include <fmt/format.h>

#include <algorithm>

#include "frontends/tflite/call/call.h"

namespace deuteron::tflite {

// The number of the variable of that name, which is made when it is met first.
static i32 variable_named(ImportState& state, const VarHandleOptions& o) {
  const auto text = [](const flatbuffers::String* s) { return s ? s->str() : std::string(); };
  const std::string container = text(o.container()), name = text(o.shared_name());
  const std::string whole = container.empty() ? name : container + "/" + name;
  const auto known = std::find_if(state.variables.begin(), state.variables.end(),
                                  [&](const Variable& v) { return v.name == whole; });
  if (known == state.variables.end()) {
    state.variables.push_back({whole, {}, {}});
    return static_cast<i32>(state.variables.size()) - 1;
  }
  return static_cast<i32>(known - state.variables.begin());
}

static bool can_stay(const Type& type) {
  const DType d = type.dtype;
  if (d == DType::s8) return !type.quant.empty() && !type.quant.per_channel();
  return d == DType::f32 || d == DType::s32 || d == DType::s64 || d == DType::b8;
}

void Call::name_variable(const VarHandleOptions& options) {
  ModelTensor& handle = state_.tensors[out_[0]];
  handle.variable = variable_named(state_, options);
  handle.state = ModelTensor::State::there;
}

Variable* Call::variable_of(const ModelTensor& handle) {
  if (handle.state == ModelTensor::State::broken) ok_ = false;  // reported
  require(handle.variable >= 0, fmt::format("takes `{}` for the handle of a variable", handle.name),
          "no result of VAR_HANDLE", "a result of VAR_HANDLE", "tflite.variable.handle");
  return ok_ ? &state_.variables[handle.variable] : nullptr;
}

// Whatever is read from a variable and assigned to it is of one type: an interpreter passes bytes
// on.
void Call::fit(Variable& v, const Type& type) {
  require(can_stay(type),
          fmt::format("has a variable `{}` of a type that is not supported", v.name), to_text(type),
          "FLOAT32, INT8 and UINT8 with one scale, INT32, INT64, BOOL", "tflite.variable.type");
  if (!v.type) v.type = type;
  require(*v.type == type,
          fmt::format("reads or assigns `{}` in another type than the operators before", v.name),
          to_text(type), to_text(*v.type), "tflite.variable.type");
}

ValueId Call::variable(size_t handle) {
  Variable* v = ok_ ? variable_of(state_.tensors[in_[handle]]) : nullptr;
  if (v) fit(*v, declared_result(0));
  if (!ok_) return -1;
  if (v->now < 0) {
    const bool has_steps = !v->type->quant.empty();
    v->before = v->now = state_.graph.add_value(
        v->name, {has_steps ? DType::f32 : v->type->dtype, v->type->shape, {}});
  }
  return v->now;
}

void Call::assign(size_t handle, size_t operand) {
  Variable* v = ok_ ? variable_of(state_.tensors[in_[handle]]) : nullptr;
  const ValueId value = in(operand);
  if (v) fit(*v, declared(operand)), require_sure(v->name);
  if (!ok_) return;
  v->now = value;
  v->writer = index_;
}

ValueId Call::kept(size_t i) {
  ModelTensor& t = state_.tensors[in_[i]];
  require(t.is_variable && t.state == ModelTensor::State::unknown,
          fmt::format("has a state `{}` that is not a variable tensor", t.name), "", "",
          "tflite.variable.tensor");
  if (ok_ && !state_.running.empty())
    refuse({fmt::format("keeps a state `{}` in a subgraph, where TFLite begins it anew whenever an "
                        "IF or a WHILE runs it",
                        t.name),
            "", "", "tflite.subgraph.state"},
           "keep it outside of the subgraph, or in a variable");
  if (!ok_) return -1;
  if (t.variable < 0) {
    t.variable = static_cast<i32>(state_.variables.size());
    state_.variables.push_back({t.name, t.type, t.constant});
  }
  Variable& v = state_.variables[t.variable];
  if (v.now < 0) v.before = v.now = state_.graph.add_value(t.name, t.type);
  return v.now;
}

void Call::keep(size_t i, ValueId value) {
  if (!ok_ || value < 0) return;
  Variable& v = state_.variables[state_.tensors[in_[i]].variable];
  v.now = value;
  v.writer = index_;
}

void Call::assign_once(const ModelTensor& handle, const ModelTensor& value) {
  Variable* v = variable_of(handle);
  if (!v) return;
  require(value.constant.has_value(),
          fmt::format("begins `{}` with what is computed, it has to be a constant", v->name), "",
          "", "tflite.call_once.constant");
  require(
      v->now < 0,
      fmt::format("sets what `{}` begins with behind operators that read or assign it", v->name),
      "", "", "tflite.call_once.order");
  fit(*v, value.type);
  if (ok_) v->initial = value.constant;
}

void Call::run_once(i32 subgraph) {
  require(state_.can_run(subgraph), "runs a subgraph that does not exist, or its own",
          std::to_string(subgraph), state_.runnable(), "tflite.call_once.subgraph");
  require_sure("variables");
  if (!ok_) return;
  std::vector<ModelTensor>& tensors = state_.others[subgraph];
  for (const Operator* op :
       *state_.model.subgraphs()->Get(static_cast<flatbuffers::uoffset_t>(subgraph))->operators()) {
    const auto in = ints_of(op->inputs()), out = ints_of(op->outputs());
    const OperatorKind kind = *code_of(state_.model, *op);
    const auto* options = op->builtin_options_as_VarHandleOptions();
    const bool names =
        kind.builtin == static_cast<i32>(BuiltinOperator::VAR_HANDLE) && options && out.size() == 1;
    const bool assigns = kind.builtin == static_cast<i32>(BuiltinOperator::ASSIGN_VARIABLE) &&
                         in.size() == 2 && in[0] >= 0 && in[1] >= 0;
    require(
        names || assigns,
        fmt::format("runs {} in subgraph {}, which may name variables and assign constants to them",
                    kind.custom.empty() ? name_of_builtin(kind.builtin) : kind.custom, subgraph),
        "", "", "tflite.call_once.operator");
    if (!ok_) return;
    if (names) tensors[out[0]].variable = variable_named(state_, *options);
    else assign_once(tensors[in[0]], tensors[in[1]]);
  }
}

}  // namespace deuteron::tflite

// SPDX-License-Identifier: Apache-2.0
// A subgraph in the place of an operator: a branch, or a turn of a loop.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "frontends/tflite/call/call.h"

namespace deuteron::tflite {
namespace {

// A subgraph may run many times, and may run others, so a small file could ask for more than any
// program holds.
// operators and tensors, counted each time that they are run
constexpr i64 kMostInSubgraphs = 1 << 16;

const SubGraph& subgraph_of(const ImportState& state, i32 subgraph) {
  return *state.model.subgraphs()->Get(static_cast<flatbuffers::uoffset_t>(subgraph));
}
bool is_handle(const ModelTensor& t) { return t.variable >= 0 && !t.is_variable; }

// What a run leaves for the next one of the same subgraph: its constants stand once in the graph.
void keep_for_next_run(std::vector<ModelTensor>& kept, const std::vector<ModelTensor>& ran,
                       std::span<const i32> inputs) {
  std::vector<bool> given(kept.size());
  for (const i32 id : inputs) given[id] = true;
  for (size_t k = 0; k < kept.size(); ++k) {
    if (!given[k] && kept[k].constant)
      kept[k].value = ran[k].value, kept[k].real = ran[k].real, kept[k].to_real = ran[k].to_real;
  }
}

}  // namespace

std::string ImportState::runnable() const {
  const size_t last = others.size() - 1;
  return main == 0 ? fmt::format("1..{}", last) : fmt::format("0..{}, not {}", last, main);
}

std::vector<bool> named_subgraphs(const Model& model, i32 main) {
  std::vector<bool> named(model.subgraphs()->size());
  std::vector<i32> waiting{main};
  named[main] = true;
  const auto name = [&](i32 k) {
    if (k < 0 || k >= static_cast<i32>(named.size()) || named[k]) return;
    named[k] = true;
    waiting.push_back(k);
  };
  while (!waiting.empty()) {
    const SubGraph& graph =
        *model.subgraphs()->Get(static_cast<flatbuffers::uoffset_t>(waiting.back()));
    waiting.pop_back();
    for (const Operator* op : *graph.operators()) {
      if (const auto* o = op->builtin_options_as_IfOptions())
        name(o->then_subgraph_index()), name(o->else_subgraph_index());
      if (const auto* o = op->builtin_options_as_WhileOptions())
        name(o->cond_subgraph_index()), name(o->body_subgraph_index());
      if (const auto* o = op->builtin_options_as_CallOnceOptions()) name(o->init_subgraph_index());
      if (const auto* o = op->builtin_options_2_as_StablehloReduceWindowOptions())
        name(o->body_subgraph_index());
      if (const auto* o = op->builtin_options_2_as_StablehloScatterOptions())
        name(o->update_computation_subgraph_index());
    }
  }
  return named;
}

bool Call::can_run(i32 subgraph, size_t operands, size_t results) {
  require(state_.can_run(subgraph), "runs a subgraph that does not exist, or the model's own",
          std::to_string(subgraph), state_.runnable(), "tflite.subgraph.index");
  if (!ok_) return false;
  const SubGraph& graph = subgraph_of(state_, subgraph);
  const size_t takes = ints_of(graph.inputs()).size(), gives = ints_of(graph.outputs()).size();
  require(takes == operands && gives == results,
          fmt::format("runs subgraph {}, which has other operands and results", subgraph),
          fmt::format("{}, {}", takes, gives), fmt::format("{}, {}", operands, results),
          "tflite.subgraph.operands");
  require(std::ranges::find(state_.running, subgraph) == state_.running.end(),
          fmt::format("runs subgraph {}, of which it is a part itself", subgraph), "", "",
          "tflite.subgraph.cycle");
  return ok_;
}

std::optional<BuiltinOperator> Call::body_of(i32 subgraph) {
  if (!can_run(subgraph, 2, 1)) return std::nullopt;
  const SubGraph& graph = subgraph_of(state_, subgraph);
  const auto given = ints_of(graph.inputs()), made = ints_of(graph.outputs());
  const auto& operators = *graph.operators();
  if (operators.size() == 0 && made[0] == given[1]) return std::nullopt;
  const Operator* op = operators.size() == 1 ? operators.Get(0) : nullptr;
  const auto in = op ? ints_of(op->inputs()) : given, out = op ? ints_of(op->outputs()) : given;
  const bool of_both = op && in.size() == 2 &&
                       (std::ranges::equal(in, given) || (in[0] == given[1] && in[1] == given[0]));
  require(of_both && out.size() == 1 && out[0] == made[0],
          fmt::format("joins numbers by subgraph {}, which is more than one operator on both",
                      subgraph),
          fmt::format("{} operators", operators.size()), "1", "tflite.subgraph.body");
  return ok_ ? std::optional(static_cast<BuiltinOperator>(code_of(state_.model, *op)->builtin))
             : std::nullopt;
}

bool Call::fits(const ModelTensor& given, const ModelTensor& wanted) {
  require(given.type == wanted.type,
          fmt::format("hands `{}` over as `{}`, which is of another type", given.name, wanted.name),
          to_text(given.type), to_text(wanted.type), "tflite.subgraph.type");
  return ok_;
}

std::vector<ModelTensor> Call::given_from(size_t first) {
  std::vector<ModelTensor> given;
  for (size_t i = first; ok_ && i < in_.size(); ++i) {
    ModelTensor* t =
        has(i) && is_handle(state_.tensors[in_[i]]) ? &state_.tensors[in_[i]] : tensor(i);
    if (!t) return {};
    if (!t->type.quant.empty()) steps_of(*t);
    value_of(*t);
    given.push_back(*t);
  }
  return given;
}

std::optional<std::vector<ModelTensor>> Call::run_subgraph(i32 subgraph,
                                                           const std::vector<ModelTensor>& given) {
  const SubGraph& graph = subgraph_of(state_, subgraph);
  std::vector<ModelTensor>& kept = state_.others[subgraph];
  const auto inputs = ints_of(graph.inputs()), outputs = ints_of(graph.outputs());
  state_.failed.resize(state_.others.size());
  if (state_.failed[subgraph]) ok_ = false;  // reported
  state_.in_subgraphs += graph.operators()->size() + graph.tensors()->size();
  if (ok_ && state_.in_subgraphs > kMostInSubgraphs) {
    state_.failed.assign(state_.failed.size(), true);
    refuse({"runs subgraphs of too many operators and tensors, each counted as often as it runs",
            fmt::format("at least {}", state_.in_subgraphs), std::to_string(kMostInSubgraphs),
            "tflite.subgraph.total"},
           "make loops shorter, or give a subgraph less to do");
  }
  for (size_t k = 0; ok_ && k < inputs.size(); ++k) fits(given[k], kept[inputs[k]]);
  if (!ok_) return std::nullopt;
  std::vector<ModelTensor> inner = kept;
  for (size_t k = 0; k < inputs.size(); ++k) inner[inputs[k]] = given[k];
  const size_t reported = state_.diagnostics.list().size();
  std::swap(inner, state_.tensors);
  state_.running.push_back(subgraph);
  for (const Operator* op : *graph.operators()) state_.visit(*op, index_);
  state_.running.pop_back();
  std::swap(inner, state_.tensors);
  keep_for_next_run(kept, inner, inputs);
  // What is wrong in it is said once.
  if (state_.diagnostics.list().size() != reported) state_.failed[subgraph] = true;
  std::vector<ModelTensor> results;
  for (const i32 id : outputs) {
    if (inner[id].state == ModelTensor::State::broken)
      ok_ = false, state_.failed[subgraph] = true;  // reported
    require(inner[id].state == ModelTensor::State::there || inner[id].constant,
            fmt::format("runs a subgraph in which no operator makes `{}`", inner[id].name), "", "",
            "tflite.output.missing");
    if (!ok_) return std::nullopt;
    results.push_back(std::move(inner[id]));
    inner[id] = results.back();  // an output may be named twice
  }
  return results;
}

void Call::become(size_t i, const ModelTensor& made) {
  ModelTensor& result = state_.tensors[out_[i]];
  if (!ok_ || !fits(made, result)) return;
  const std::string name = std::exchange(result, made).name;
  result.name = name, result.state = ModelTensor::State::there;
  value_of(result);
}

void Call::take_branch(i32 subgraph) {
  if (!can_run(subgraph, in_.size() - 1, out_.size())) return;
  const std::vector<ModelTensor> given = given_from(1);
  const auto made = ok_ ? run_subgraph(subgraph, given) : std::nullopt;
  for (size_t k = 0; made && k < made->size(); ++k) become(k, (*made)[k]);
}

// Both are of one type with the same steps, so that picking changes no number.
void Call::pick(size_t i, ValueId condition, ModelTensor& yes, ModelTensor& no) {
  const ModelTensor& wanted = state_.tensors[out_[i]];
  if (!fits(yes, wanted) || !fits(no, wanted)) return;
  const ValueId a = value_of(yes), b = value_of(no);
  const bool same =
      yes.constant && no.constant && std::ranges::equal(yes.constant->bytes, no.constant->bytes);
  if (same || (a == b && yes.variable == no.variable)) return become(i, yes);
  require(a >= 0 && b >= 0,
          fmt::format("picks one of two variables for `{}` by a condition that is computed",
                      wanted.name),
          "", "", "tflite.if.state");
  require(a < 0 || b < 0 || type(a).dtype == type(b).dtype,
          fmt::format("picks `{}` from two types", wanted.name), to_text(type(a)), to_text(type(b)),
          "tflite.subgraph.type");
  if (!ok_) return;
  const Shape& to = type(a).shape;
  if (rank(condition) > static_cast<i64>(to.size()))
    condition = reshape(condition, Shape(to.size(), 1), "condition");
  CallBuilder where("aten::where", 3, 1);
  where.overload("self_out")
      .in(0, plain_face(shape(condition)))
      .in(1, plain_face(to))
      .in(2, plain_face(to))
      .out(0, plain_face(to));
  const ValueId picked =
      add_call(where.done().call, {condition, a, b}, {type(a).dtype, to, wanted.type.quant});
  if (ok_) state_.graph.values[picked].name = wanted.name;
  result(i, picked);
}

void Call::pick_branch(i32 yes, i32 no) {
  require(declared(0).dtype == DType::b8 && declared(0).elements() == 1,
          "has a condition that is not one truth value", to_text(declared(0)),
          "BOOL of one element", "tflite.if.condition");
  const ValueId condition = in(0);
  if (!ok_ || !can_run(yes, in_.size() - 1, out_.size()) ||
      !can_run(no, in_.size() - 1, out_.size()))
    return;
  const std::vector<ModelTensor> given = given_from(1);
  if (!ok_) return;
  ++state_.unsure;
  auto made = run_subgraph(yes, given);
  const bool good = std::exchange(ok_, true);  // what is wrong in the other one is said as well
  auto other = run_subgraph(no, given);
  --state_.unsure;
  ok_ = ok_ && good;
  for (size_t k = 0; ok_ && k < out_.size(); ++k) pick(k, condition, (*made)[k], (*other)[k]);
}

void Call::require_sure(std::string_view name) {
  if (ok_ && state_.unsure > 0)
    refuse({fmt::format("writes `{}` in a branch whose condition is computed: both branches run "
                        "here, and the one that is not picked must "
                        "not write",
                        name),
            "", "", "tflite.if.state"},
           "write it behind the IF: have both branches give what is to be written, the old content "
           "in one of them");
}

}  // namespace deuteron::tflite

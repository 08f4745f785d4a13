// SPDX-License-Identifier: Apache-2.0
// A loop whose turns are known: each turn stands in the program.
#include <fmt/format.h>

#include <algorithm>

#include "frontends/tflite/call/call.h"

namespace deuteron::tflite {
namespace {

constexpr i64 kMostTurns = 4096;
constexpr const char* kUnroll =
    "unroll the loop before the model is converted: a recurrent layer of Keras with unroll=True, a "
    "Python loop of known length";

// The first operand of a loop that is no constant and that its condition depends on; nothing: it
// depends on none.
std::optional<size_t> computed_operand(const SubGraph& condition,
                                       const std::vector<ModelTensor>& turn) {
  std::vector<bool> needed(condition.tensors()->size());
  needed[ints_of(condition.outputs())[0]] = true;
  for (flatbuffers::uoffset_t n = condition.operators()->size(); n-- > 0;) {
    const Operator& op = *condition.operators()->Get(n);
    const auto in = ints_of(op.inputs()), out = ints_of(op.outputs());
    if (std::ranges::none_of(out, [&](i32 id) { return needed[id]; })) continue;
    for (const i32 id : in)
      if (id >= 0) needed[id] = true;
  }
  const auto inputs = ints_of(condition.inputs());
  for (size_t k = 0; k < inputs.size(); ++k)
    if (needed[inputs[k]] && !turn[k].constant) return k;
  return std::nullopt;
}

}  // namespace

std::optional<bool> Call::goes_on(i32 condition, const std::vector<ModelTensor>& turn, i64 turns) {
  const auto made = run_subgraph(condition, turn);
  if (!made) return std::nullopt;
  const ModelTensor& truth = made->front();
  require(truth.type.dtype == DType::b8 && truth.type.elements() == 1,
          "has a condition that is not one truth value", to_text(truth.type), "BOOL of one element",
          "tflite.while.condition");
  if (!ok_) return std::nullopt;
  if (truth.constant) return truth.constant->as<u8>()[0] != 0;
  const auto k = computed_operand(
      *state_.model.subgraphs()->Get(static_cast<flatbuffers::uoffset_t>(condition)), turn);
  const std::string what = k ? fmt::format("`{}` (operand {})", state_.tensors[in_[*k]].name, *k)
                             : fmt::format("what subgraph {} reads", condition);
  refuse({fmt::format("runs as often as data says, and a program here has one order of operators: "
                      "its condition `{}` depends on {}, which "
                      "is computed {}",
                      truth.name, what,
                      turns == 0 ? "before the first turn" : fmt::format("in turn {}", turns)),
          "", "", "tflite.while.condition"},
         kUnroll);
  return std::nullopt;
}

void Call::run_loop(i32 condition, i32 body) {
  if (!can_run(condition, in_.size(), 1) || !can_run(body, in_.size(), out_.size())) return;
  std::vector<ModelTensor> turn = given_from(0);
  if (!ok_) return;
  for (i64 turns = 0;; ++turns) {
    const std::optional<bool> more = goes_on(condition, turn, turns);
    if (!more) return;
    if (!*more) break;
    if (turns == kMostTurns)
      return refuse(
          {"turns too often to be unrolled", fmt::format("at least {}", turns + 1),
           std::to_string(kMostTurns), "tflite.while.turns"},
          "give it fewer turns, such as a shorter sequence, and call the program more often");
    auto next = run_subgraph(body, turn);
    if (!next) return;
    turn = std::move(*next);
  }
  for (size_t k = 0; k < out_.size(); ++k) become(k, turn[k]);
}

}  // namespace deuteron::tflite

// SPDX-License-Identifier: Apache-2.0
// Where an operator stands, and what is said of it.
#include "frontends/tflite/call/call.h"

#include <fmt/format.h>

namespace deuteron::tflite {

Call::Call(ImportState& state, const Operator& op, i32 index, std::string builtin, Int16 int16)
    : state_(state),
      op_(op),
      index_(index),
      builtin_(std::move(builtin)),
      int16_(int16),
      in_(ints_of(op.inputs())),
      out_(ints_of(op.outputs())) {}

std::string Call::where() const {
  const std::string name = out_.empty() ? "" : fmt::format(" `{}`", state_.tensors[out_[0]].name);
  const std::string inside = state_.running.empty() ? ""
                                                    : fmt::format("in subgraph {}, which runs for ",
                                                                  state_.running.back());
  return fmt::format("{}: {}{} ({}operator {} of subgraph {})", state_.graph.name, builtin_, name,
                     inside, index_, state_.main);
}

void Call::refuse(Refusal why, std::string fix) {
  // The shape of a tensor without axes is an empty text.
  if (why.measured.empty() != why.limit.empty())
    (why.measured.empty() ? why.measured : why.limit) = "no axes";
  if (ok_)
    state_.diagnostics.add(
        {Severity::error, where(), why.what, why.measured, why.limit, why.rule, std::move(fix)});
  ok_ = false;
}

void Call::require(bool condition, std::string_view what, std::string measured, std::string limit,
                   std::string_view rule) {
  if (ok_ && !condition)
    refuse({std::string(what), std::move(measured), std::move(limit), std::string(rule)});
}

void Call::takes(size_t fewest, size_t most, size_t results) {
  const std::string limit =
      fewest == most ? std::to_string(most) : fmt::format("{}..{}", fewest, most);
  require(in_.size() >= fewest && in_.size() <= most, "has another number of operands",
          std::to_string(in_.size()), limit, "tflite.operator.operands");
  for (size_t i = 0; ok_ && i < fewest; ++i)
    require(in_[i] >= 0, "lacks an operand that it needs", fmt::format("operand {} is left out", i),
            fmt::format("{} operands", fewest), "tflite.operator.operands");
  require(out_.size() == results, "has another number of results", std::to_string(out_.size()),
          std::to_string(results), "tflite.operator.results");
}

}  // namespace deuteron::tflite

// SPDX-License-Identifier: Apache-2.0
// Ways to compile a graph that must not change one bit of what it computes.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ir/graph.h"

namespace deuteron::test {

struct Checked {
  int programs = 0;                  // that ran
  int compared = 0;                  // of them, with another way to the same bits
  std::optional<std::string> fault;  // the first thing that is wrong
};

// By sample, then input or output: bytes in storage order.
using ByteSamples = std::vector<std::vector<std::vector<uint8_t>>>;
struct BoardOutputs {
  std::string board, error;  // error: "" when it ran
  ByteSamples outputs;
};
// Runs a program on the board of a target, under emulation; nothing: the target has none.
using RunOnBoard = std::function<std::optional<BoardOutputs>(
    const std::string& target, std::span<const uint8_t> program, const ByteSamples& inputs)>;

// For a target that `choice` picks, and all its ways: the graph as it is (float: calibrated), then
// as the quantized graph that it becomes. `board` may be empty. An internal error ends the process.
Checked check_same_bits(const Graph& graph, uint32_t choice, const RunOnBoard& board);

// Compiles the graph for a target, in a precision and with a dialect that `choice` picks: whether a
// program came of it. None without a diagnostic, and an internal error, end the process.
bool compiles(const Graph& graph, uint32_t choice);

}  // namespace deuteron::test

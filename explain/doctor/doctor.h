// SPDX-License-Identifier: Apache-2.0
// What keeps a compiled model off the NPU, out of RAM, slow, big in flash or inaccurate:
// examinations of what the compilation recorded.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "base/diagnostic.h"
#include "compile/compilation.h"
#include "explain/doctor/finding.h"
#include "explain/inspect/layers.h"
#include "explain/report/accuracy.h"
#include "explain/report/program_report.h"
#include "targets/target.h"

namespace deuteron {

// A program and what is known of it.
struct Patient {
  const Compilation& compilation;
  const ProgramReport& program;
  const Target& target;
  const Samples& samples;  // empty: nothing to measure accuracy on
  bool made_up_samples = false;
  int threads = 0;
  std::optional<Accuracy> accuracy = {};  // none: not measured
};

// Ranked.
std::vector<Finding> examine(const Patient& patient);

// Each appends what it finds.
void examine_sides(const Patient&, std::vector<Finding>&);  // what is not on the NPU, or in float
void examine_time(const Patient&, std::vector<Finding>&);   // what takes time wherever it is
void examine_answers(const Patient&,
                     std::vector<Finding>&);  // outputs, and columns of inputs, that are of no use
void examine_accuracy(const Patient&, std::vector<Finding>&);
void examine_memory(const Patient&, std::vector<Finding>&);  // RAM and flash

// An error of compilation that is a finding: an operator that the NPU refuses where nothing else
// takes it, or a plan that fits no memory. Nothing: another error.
std::optional<Finding> finding_of_error(const Diagnostic& error);

// A warning of compilation that is a finding: a sample with a spike. Nothing: another warning.
std::optional<Finding> finding_of_warning(const Diagnostic& warning);

// What is as it should be, in one line.
std::string good_text(const Patient& patient);

// ---- parts of the examinations

// The user's operators of an origin, as a place.
FindingPlace place_of(const Graph& graph, const Origin& origin);
// "4 214 826 cycles, 63.5 % of 6 640 560 (CPU, estimated)"
std::string cycles_text(const Patient& patient, i64 cycles, std::string_view how);
std::string of_cpu(const Patient& patient);  // "CPU, estimated"
double share_of_cycles(const Patient& patient, i64 cycles);

inline constexpr const char* kOfNpu = "open model of the NPU";

// By instruction of the program: its node.
std::vector<NodeId> nodes_of_instructions(const Graph& lowered);
// Reads an input or gives an output of the program, to change its type alone.
bool is_at_port(const Graph& lowered, const Node& node);

}  // namespace deuteron

// SPDX-License-Identifier: Apache-2.0
// Which layers of a program have weights of four bits, and how many bytes that saves.
#pragma once
#include <string>
#include <vector>

#include "explain/report/program_report.h"
#include "ir/graph.h"

namespace deuteron {

struct Int4Report {
  std::vector<std::string> layers;  // the user's names
  i64 bytes = 0;                    // of their constants
  i64 int8_bytes = 0;               // what they would have with int8 weights
};
Int4Report int4_report(const Graph& lowered, const ProgramReport& program);

}  // namespace deuteron

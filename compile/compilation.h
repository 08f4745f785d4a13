// SPDX-License-Identifier: Apache-2.0
// What the passes make of a model: the program, what it is measured against, and what was decided
// on the way.
#pragma once
#include <vector>

#include "compile/decisions.h"
#include "compile/lower/user_operators.h"
#include "compile/plan/plan_memory.h"
#include "write/pte/port_notes.h"
#include "write/pte/pte.h"

namespace deuteron {

struct Compilation {
  Graph graph;      // after the last pass that ran
  Graph reference;  // the float graph (or the quantized one as given) before lowering: what
                    // accuracy is measured against
  Graph equalized;  // the same with the factors that its channels got: what single values are
                    // compared with
  MemoryPlan plan;
  std::vector<uint8_t> pte;
  // The same program with our own conversion of the NPU's parts, where `pte` has the vendor's,
  // which runs on the chip alone. Empty: our converter does not take them.
  std::vector<uint8_t> own_pte;
  PteParts parts;
  std::vector<UserOperator> user;  // by id of graph.sources
  FormDecision forms;
  UnitOrder unit_order;
  Slimming slimming;
  QuantizationDecisions quantization;
  PartitionDecisions partition;
  NpuDecisions npu;
  CallOrder call_order;
  RowBands row_bands;
  std::vector<PlainDecision> plain;
  std::vector<ShortScratch> short_scratch;
  StreamDecision stream;
  ByteInputs byte_inputs;
};

// What this machine can run. Empty: nothing.
const std::vector<uint8_t>& program_to_run(const Compilation& compilation);

// Multiply-adds of the whole program.
i64 macs_of(const Compilation& compilation);

}  // namespace deuteron

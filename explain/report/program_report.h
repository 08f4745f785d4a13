// SPDX-License-Identifier: Apache-2.0
// What became of every operator of the user's model, and what the whole program costs: made from
// what the passes decided.
#pragma once
#include <string>
#include <vector>

#include "compile/cost/program_cost.h"
#include "ops/kernel_call/called_kernels.h"

namespace deuteron {

struct Compilation;

// npu: inside a delegate; cortex_m: in the quantized form, on kernels of the dialect, or on plain
// copies; portable: in float, because no such kernel takes it.
enum class Placement : u8 { npu, cortex_m, portable };
std::string_view name_of(Placement);  // "npu", "cortex_m", "portable"

// One kernel call of the program, in the user's names.
struct OperatorReport {
  std::string
      name;  // the user's operators it computes: "backbone.7.conv" or node names, joined by " + "
  std::string op;      // "cortex_m::quantized_conv2d"
  std::string source;  // "conv2d_7 (aten.conv2d.default), relu_7 (aten.relu.default)"
  std::string reason;
  Placement placement = Placement::cortex_m;
  i64 macs = 0;
  i64 float_bytes = 0;   // portable: of the float tensors that it reads and writes
  bool is_stock = true;  // false: a kernel of deuteron::, which stock firmware lacks
  i32 delegate = -1;     // npu: by delegate call of the program
  i32 instruction = -1;  // of the program
  // npu: on the open model of the machine; else of the CPU by [cpu.cost]; -1: not known
  i64 cycles = -1;
  i64 apart_cycles = 0;  // npu: of a kernel that the open machine is assumed to have: of the two
                         // that would take its place; else 0
  // npu: what holds the kernel back: "compute", "weights", "activations", "setup", "fetch"
  std::string bound = {};
  Origin origin = {};         // the user's operators, by index into Graph::sources
  CalledKernels called = {};  // on the target's core
  std::string plain = {};  // why the call is not one on packed weights, or an exact addition, where
                           // those are asked for; else empty
  // What more scratch would add to the plan and save, of a call at the peak; 0: it has what it
  // uses.
  i64 short_bytes = 0, short_cycles = 0;
};
// An operator of the model without a call of its own.
struct FoldedReport {
  std::string name, op, reason;
  i32 source = -1;  // of Graph::sources
};

struct ProgramReport {
  std::vector<OperatorReport> operators;  // in execution order
  std::vector<FoldedReport> folded;
  ProgramCost cost;  // by the cost models of both sides
  i64 macs = 0;
};

// Why a call works in smaller pieces, in a plan of so many bytes; "": that takes less than a
// percent of the time.
std::string short_scratch_text(const OperatorReport& o, const ProgramReport& program,
                               i64 plan_bytes);

ProgramReport report_program(const Compilation& compilation, const Target& target);

}  // namespace deuteron

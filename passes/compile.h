// The whole way from a float or quantized graph to a program file, without touching any file.
#pragma once
#include <string>
#include <vector>

#include "backends/neutron_model/cycles.h"
#include "calibrate/samples.h"
#include "emit/pte.h"
#include "memory/plan_memory.h"
#include "passes/npu_support.h"
#include "passes/program_cost.h"
#include "passes/user_operators.h"
#include "quantize/insert_quantization.h"
#include "targets/target.h"

namespace deuteron {

struct CompileOptions {
  QuantizeOptions quantize;
  NpuOptions npu;
  bool int8_io = false;        // --io int8: inputs and outputs are the quantized tensors themselves
  bool contiguous_io = false;  // --io-layout contiguous: keep the user's memory format even if that costs a transpose
  int threads = 0;             // 0: as many as the machine has
  std::string intermediates;   // folder for the graph after every pass
  std::string stop_after;      // pass name: the result then has only `graph`
  std::string dump_after;      // pass name: its graph is printed to standard output
  std::vector<std::string> skip_passes;
  i64 max_ram = 0;        // --max-ram: the plan may have so many bytes; 0: what the target has for activations
  i64 max_rewrites = -1;  // applies only so many rewrites in all, to bisect
};

// npu: inside a delegate; cortex_m: in the quantized form, on kernels of the dialect, or on plain copies; portable: in float, because no
// such kernel takes it.
enum class Placement : u8 { npu, cortex_m, portable };

// One kernel call of the program, in the user's names.
struct OperatorReport {
  std::string name;    // the user's operators it computes: "backbone.7.conv" or node names, joined by " + "
  std::string op;      // "cortex_m::quantized_conv2d"
  std::string source;  // "conv2d_7 (aten.conv2d.default), relu_7 (aten.relu.default)"
  std::string reason;
  Placement placement = Placement::cortex_m;
  i64 macs = 0;
  i64 float_bytes = 0;     // portable: of the float tensors that it reads and writes
  bool is_stock = true;    // false: a kernel of deuteron::, which stock firmware lacks
  i32 delegate = -1;       // npu: by delegate call of the program
  i32 instruction = -1;    // of the program
  i64 cycles = -1;         // npu: on the open model of the machine; else of the CPU by [cpu.cost]; -1: not known
  std::string bound = {};  // npu: what holds the kernel back: "compute", "weights", "activations", "setup", "fetch"
  Origin origin = {};      // the user's operators, by index into Graph::sources
};
// An operator as the partition met it: int8, or float where it has no int8 form; before kernels are chosen.
struct Considered {
  Origin origin;
  std::string what;                       // "conv2d `backbone.7.conv` (source op 41)"
  std::vector<std::string> quantization;  // a line for each operand that is no bias, and each result
  std::vector<NpuCheck> checks;           // with an NPU: in order, until one fails
  bool on_npu = false;
  std::string why_not;                   // with an NPU: why it stays on the CPU
  i64 npu_cycles = -1, cpu_cycles = -1;  // alone; -1: not known, or not possible
  struct Neighbour {
    std::string tensor, what;   // `what`: the operator, "input" or "output"
    bool is_before, is_across;  // across: on the other side of the border
    i64 bytes;
  };
  std::vector<Neighbour> neighbours;
};
// What --prefer came to.
struct PreferReport {
  std::string prefer;                           // "npu", "fastest"; empty: the target has one side only
  std::optional<i64> all_npu, all_cpu, chosen;  // cycles of the whole program; fastest only
  int evaluated = 0;                            // programs that were compiled to choose
};
// What the NPU did not take, and the check that it failed.
struct KeptOnCpu {
  Origin origin;
  NpuCheck why;
};
// A kernel call inside a delegate, in execution order, and the user's operators that it computes: by construction, not by names.
struct NpuKernel {
  i32 delegate;  // by delegate call of the program
  neutron::Kind kind;
  Origin origin;
  neutron::Cost cost;  // on the open model of the machine
};
struct FoldedReport {
  std::string name, op, reason;
  i32 source = -1;  // of Graph::sources
};

// What it cost to fit the memory: passes/split_rows.cpp.
struct RowSplitReport {
  i64 operators = 0;  // that are computed in bands; 0: none
  i64 bands = 0;      // at most
  i64 extra_calls = 0, extra_macs = 0;
  i64 bytes_before = 0, bytes_after = 0;
};

struct Compilation {
  Graph graph;      // after the last pass that ran
  Graph reference;  // the float graph (or the quantized one as given) before lowering: what accuracy is measured against
  Graph equalized;  // the same with the factors that its channels got: what single values are compared with
  MemoryPlan plan;
  std::vector<uint8_t> pte;
  PteParts parts;
  std::vector<UserOperator> user;  // by id of graph.sources
  std::vector<OperatorReport> operators;
  std::vector<FoldedReport> folded;
  std::vector<NpuKernel> npu_kernels;
  std::vector<Folded> without_kernel;     // operators on the NPU that need no kernel of their own
  std::vector<KeptOnCpu> kept_on_cpu;     // of a target with an NPU
  std::vector<QuantizedValue> quantized;  // empty when the model came quantized
  std::string quantization_policy;        // "histogram, 4 ranges adjusted"; empty when the model came quantized
  double quantization_gain_db = 0;        // of that over plain histogram ranges, simulated on the calibration samples
  bool model_was_quantized = false;
  i64 macs = 0;
  RowSplitReport row_split;
  std::vector<Considered> considered;  // in execution order, without the quantize and dequantize at the edges
  ProgramCost cost;                    // by the cost models of both sides
  PreferReport prefer;
};

// `samples` may be empty for a quantized model. Errors are in `diagnostics`; then the result is empty.
std::optional<Compilation> compile(Graph graph, const Target& target, const Samples& samples, const CompileOptions& options,
                                   Diagnostics& diagnostics);

// The names that --skip-pass, --stop-after and --dump-after take, in order.
std::vector<std::string> pass_names();

// Error of the program against the float model on the samples, in dB; all outputs together.
struct Accuracy {
  double sqnr_db = 0;
  double max_abs_error = 0;
  i64 samples = 0;
};
Accuracy measure_accuracy(const Compilation& compilation, const Samples& samples, int threads);

}  // namespace deuteron

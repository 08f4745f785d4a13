// SPDX-License-Identifier: Apache-2.0
// What passes decided, as data. Sentences about it are made in explain/report/.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compile/quantize/held_out.h"
#include "compile/quantize/insert_quantization.h"
#include "compile/quantize/precision_search.h"
#include "compile/quantize/quantization_search.h"
#include "compile/quantize/weight_search.h"
#include "ir/graph.h"
#include "npu/neutron/machine/cycles.h"

namespace deuteron {

// A dense call or an addition that keeps its plain kernel where packed ones are asked for:
// compile/lower/pack_weights.cpp.
struct PlainDecision {
  Origin origin;
  std::string call;  // "cortex_m::quantized_conv2d"
  Refusal why;
};

// A call at the peak that works in smaller pieces: compile/lower/fit_scratch.cpp.
struct ShortScratch {
  ValueId result = -1;
  Origin origin;
  i64 bytes = 0;   // that the plan would grow by
  i64 cycles = 0;  // that this would save
};

// Units between fully connected layers that stand in another order:
// compile/simplify/order_units.cpp.
struct UnitOrder {
  i64 values = 0;         // 0: none
  Origin readers;         // the layers that read them
  i64 macs = 0;           // of the layers that read them
  i64 macs_left_out = 0;  // of these, in the mean over samples that an order was not chosen on
};

// Channels of an int8 value that always hold the same step, or that are not computed:
// compile/simplify/slim.cpp.
struct SlimmedValue {
  Origin origin;
  // a layer's result, whose channels are filters; else that of an operator behind one
  bool is_layer = false;
  i64 channels = 0;
  std::vector<i64> kept;
  i64 constant = 0;           // of all channels
  i64 alike = 0, unread = 0;  // of those that are not kept and not constant
  i64 weights = 0;            // of a layer: what is left of them
};
struct Slimming {
  std::vector<SlimmedValue> values;
  i64 filters = 0;                        // of all int8 layers
  i64 macs_before = 0, macs_after = 0;    // 0: nothing was left out
  i64 bytes_before = 0, bytes_after = 0;  // of constants, before they are packed
};

struct SlimmedFilters {
  i64 left_out = 0, constant = 0, alike = 0,
      unread = 0;  // constant ones are counted where they are computed too
};
SlimmedFilters slimmed_filters(const Slimming& slimming);  // compile/simplify/slim.cpp

// Operators that keep an exact form beside the NPU: compile/place/choose_forms.cpp.
struct FormDecision {
  std::vector<std::string> exact;  // "layer_norm", "log"
  std::vector<Origin> tables;      // too coarse on the NPU: compile/precision/fixed_steps.h
  // Signal to noise, simulated with ranges of all samples, with the NPU's forms of all and with
  // these; of the part of an output that gains most, if its gain decided.
  std::optional<double> npu_db, exact_db;
  bool of_a_part = false;
  bool empty() const { return exact.empty() && tables.empty(); }
};

// compile/precision/quantize_post_training.cpp
struct QuantizationDecisions {
  bool model_was_quantized = false;  // then the rest is empty
  std::vector<QuantizedValue> values;
  std::string policy;  // "histogram, channels equalized (0.5)"
  std::vector<InFloat> in_float;
  std::vector<size_t> left_out;     // samples with a spike: compile/calibrate/spikes.h
  std::optional<HeldOut> held_out;  // simulated, on samples that the ranges were not chosen on
  double gain_db = 0;               // of that over plain histogram ranges
  std::optional<PrecisionDecision> precision;  // of --precision mixed
  std::optional<WeightDecision> weights;       // of --precision int4 with a limit
};

// What both sides say of one operator.
struct SideDecision {
  std::vector<NpuCheck> checks;  // with an NPU: in order, until one fails
  bool on_npu = false;
  i64 npu_cycles = -1, cpu_cycles = -1;  // alone; -1: not known, or not possible
};
// What the NPU did not take, and the check that it failed.
struct KeptOnCpu {
  Origin origin;
  NpuCheck why;
};
// What --prefer came to.
struct Preference {
  std::string prefer;  // "npu", "fastest"; empty: the target has one side only
  std::optional<i64> all_npu, all_cpu, chosen;  // cycles of the whole program; fastest only
  int evaluated = 0;                            // programs that were compiled to choose
};
// compile/place/partition.cpp
struct PartitionDecisions {
  Graph graph;  // as the partition met it: operators in int8, or in float where they have no int8
                // form
  std::vector<SideDecision>
      nodes;  // by node of it; nobody asks about the quantize and dequantize at the edges
  std::vector<KeptOnCpu> kept_on_cpu;  // of a target with an NPU, in the order of the decisions
  Preference preference;
};

// A kernel call inside a delegate, and the user's operators that it computes: by construction, not
// by names.
struct NpuKernel {
  i32 delegate;  // by delegate call of the program
  neutron::Kind
      kind;  // kProfileDump: the vendor's converter names one that the open machine does not have
  Origin origin;
  neutron::Cost cost;            // on the open model of the machine
  std::string vendor_name = {};  // of the kernel, where `kind` does not say it
  bool is_predicted = true;      // false: nothing says its cost
  std::string open = {};         // what the vendor's converter does not say of it
  i64 apart_cycles = 0;  // of a kernel that the open machine is assumed to have: of the two that
                         // would take its place; else 0
  i32 own = -1;  // its number among the kernels of our own conversion of the part; -1: that has
                 // none for it
};
// A part by the vendor's converter, whose microcode runs on the chip alone, and the same Neutron IR
// by ours: the same numbers.
struct OwnConversion {
  std::shared_ptr<const DelegateBlob> vendors,
      ours;  // ours: null where our converter does not take the part
};
std::string name_of(const NpuKernel& kernel);
// compile/lower/lower_delegates.cpp
struct NpuDecisions {
  std::vector<NpuKernel> kernels;      // in execution order
  std::vector<Folded> without_kernel;  // operators on the NPU that need no kernel of their own
  i64 cycles() const;                  // of all kernels together
  i64 not_predicted()
      const;  // kernels without a cost, and delegates whose converter names no kernels
  i32 unnamed_delegates = 0;  // those delegates
  std::vector<std::string>
      vendor_selections;  // C files of the vendor's converter: its kernels in its own firmware
  std::vector<OwnConversion> own_conversions;  // of what the vendor's converter made
};

// What a step computes instead of the window: compile/simplify/stream.cpp.
struct StreamDecision {
  i64 frames = 0, window = 0;  // 0 frames: the program computes the whole window
  i64 axis = 0;                // of the input, in the storage
  i64 macs_step = 0, macs_window = 0;
  i64 least_state_bytes = 0;       // no program that computes each product once can keep less
  std::vector<std::string> whole;  // operators that look at all rows at once: they and what follows
                                   // are computed in every step
  bool flows_out = false;          // an output has the rows of a step alone
};

// Calls in another order than the model's: compile/schedule/order_calls.cpp.
struct CallOrder {
  i64 moved = 0;  // nodes that now stand behind one that they stood in front of; 0: none
  i64 bytes_before = 0, bytes_after = 0;
};

// What it cost to fit the memory: compile/schedule/split_rows.cpp.
struct RowBands {
  i64 operators = 0;  // that are computed in bands; 0: none
  i64 bands = 0;      // at most
  i64 extra_calls = 0, extra_macs = 0;
  i64 copies = 0;  // of the extra calls: those that copy rows from one band to the next
  i64 bytes_before = 0, bytes_after = 0;
};

}  // namespace deuteron

// SPDX-License-Identifier: Apache-2.0
// What a pass gets: the graph and everything it may report to. The list of passes is passes/pipeline.cpp.
#pragma once
#include "base/diagnostic.h"
#include "calibrate/samples.h"
#include "ir/graph.h"
#include "rewrite/patch.h"

namespace deuteron {

struct Compilation;  // passes/compilation.h

struct PassContext {
  Graph& graph;
  const Target& target;
  const Samples& samples;
  const CompileOptions& options;
  Compilation& result;
  Diagnostics& diagnostics;
  i64* rewrites_left;

  RuleContext rules() const { return {&target, &options, rewrites_left, &result}; }
};

struct Pass {
  const char* name;
  void (*run)(PassContext&);
};

// A model that says the parameters of its values itself: passes/quantize_post_training.cpp
bool is_quantized(const Graph&);

void choose_forms(PassContext&);            // passes/choose_forms.cpp
void fold_constants(PassContext&);          // passes/fold_constants.cpp
void fuse(PassContext&);                    // passes/fuse.cpp
void fuse_again(PassContext&);              // passes/fuse.cpp
void infer_layout(PassContext&);            // passes/layout.cpp
void npu_forms(PassContext&);               // passes/npu_forms.cpp
void order_units(PassContext&);             // passes/order_units.cpp
void quantize_post_training(PassContext&);  // passes/quantize_post_training.cpp
void fold_quantization(PassContext&);       // passes/fold_quantization.cpp
void stream(PassContext&);                  // passes/stream.cpp
void slim(PassContext&);                    // passes/slim.cpp
void fold_rows(PassContext&);               // passes/fold_rows.cpp
void partition(PassContext&);               // passes/partition.cpp
void choose_kernels(PassContext&);          // passes/choose_kernels.cpp
void leftovers(PassContext&);               // passes/leftovers.cpp
void int8_ports(PassContext&);              // passes/int8_ports.cpp
void require_npu(PassContext&);             // passes/lower_delegates.cpp
void lower_delegates(PassContext&);         // passes/lower_delegates.cpp
void order_calls(PassContext&);             // passes/order_calls.cpp
void split_rows(PassContext&);              // passes/split_rows.cpp
void lower(PassContext&);                   // passes/lower.cpp
void take_bytes(PassContext&);              // passes/take_bytes.cpp
void pack_weights(PassContext&);            // passes/pack_weights.cpp
void fuse_additions(PassContext&);          // passes/fuse_additions.cpp
void fit_scratch(PassContext&);             // passes/fit_scratch.cpp

}  // namespace deuteron

// SPDX-License-Identifier: Apache-2.0
// What a pass gets: the graph and everything it may report to. The list of passes is
// compile/pipeline.cpp.
#pragma once
#include "base/diagnostic.h"
#include "compile/calibrate/samples.h"
#include "ir/graph.h"
#include "ir/rewrite/patch.h"

namespace deuteron {

struct Compilation;  // compile/compilation.h

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

// A model that says the parameters of its values itself:
// compile/precision/quantize_post_training.cpp
bool is_quantized(const Graph&);

void choose_forms(PassContext&);            // compile/place/choose_forms.cpp
void fold_constants(PassContext&);          // compile/simplify/fold_constants.cpp
void find_recurrent_layers(PassContext&);   // compile/simplify/recurrent_layers.cpp
void fuse(PassContext&);                    // compile/simplify/fuse.cpp
void fuse_again(PassContext&);              // compile/simplify/fuse.cpp
void infer_layout(PassContext&);            // compile/simplify/layout.cpp
void npu_forms(PassContext&);               // compile/place/npu_forms.cpp
void order_units(PassContext&);             // compile/simplify/order_units.cpp
void quantize_post_training(PassContext&);  // compile/precision/quantize_post_training.cpp
void fold_quantization(PassContext&);       // compile/precision/fold_quantization.cpp
void stream(PassContext&);                  // compile/simplify/stream.cpp
void slim(PassContext&);                    // compile/simplify/slim.cpp
void fold_rows(PassContext&);               // compile/simplify/fold_rows.cpp
void partition(PassContext&);               // compile/place/partition.cpp
void choose_kernels(PassContext&);          // compile/lower/choose_kernels.cpp
void leftovers(PassContext&);               // compile/place/leftovers.cpp
void int8_ports(PassContext&);              // compile/precision/int8_ports.cpp
void require_npu(PassContext&);             // compile/lower/lower_delegates.cpp
void lower_delegates(PassContext&);         // compile/lower/lower_delegates.cpp
void order_calls(PassContext&);             // compile/schedule/order_calls.cpp
void split_rows(PassContext&);              // compile/schedule/split_rows.cpp
void lower(PassContext&);                   // compile/lower/lower.cpp
void take_bytes(PassContext&);              // compile/simplify/take_bytes.cpp
void pack_weights(PassContext&);            // compile/lower/pack_weights.cpp
void fuse_additions(PassContext&);          // compile/lower/fuse_additions.cpp
void place_states(PassContext&);            // compile/lower/state_writes.cpp
void fit_scratch(PassContext&);             // compile/lower/fit_scratch.cpp

}  // namespace deuteron

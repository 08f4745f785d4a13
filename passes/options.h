// SPDX-License-Identifier: Apache-2.0
// What the user may ask of a compilation.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "emit/input_format.h"
#include "passes/npu_options.h"
#include "quantize/insert_quantization.h"

namespace deuteron {

enum class WeightBits : u8 { eight, four, mixed };

inline constexpr i64 kLeastRam = -1;  // --max-ram least: as few bytes as bands of rows reach, adding a tenth of the work at most

struct CompileOptions {
  QuantizeOptions quantize;
  NpuOptions npu;
  // --int16-layer: operators, nodes and modules that work on int16 among int8
  std::vector<std::string> int16_layers;
  // --weight-bits and --int4-layer: what weights may have four bits; packed calls whose weights are such numbers then store them so
  WeightBits weight_bits = WeightBits::eight;
  std::vector<std::string> int4_layers;
  std::optional<double> max_loss_db;  // WeightLimits (quantize/weight_search.h); with target_db, below
  // --precision mixed: the search names such layers, within these limits
  bool is_mixed = false;
  std::optional<double> max_cost, target_db;  // MixedPrecision (quantize/precision_search.h)
  bool may_use_float = true;                  // the same
  bool int8_io = false;                       // --io int8: inputs and outputs are the quantized tensors themselves
  ByteInputs byte_inputs;                     // --input-format: those that the program takes as bytes, and what they stand for
  bool contiguous_io = false;                 // --io-layout contiguous: keep the user's memory format even if that costs a transpose
  bool packed_weights = false;                // --weights packed: for kernels that only our runtime has
  i64 packed_growth_percent = 3;              // all packed calls together may have so many more bytes than their plain constants
  int threads = 0;                            // 0: as many as the machine has
  std::string intermediates;                  // folder for the graph after every pass
  std::string stop_after;                     // pass name: the result then has only `graph`
  std::string dump_after;                     // pass name: its graph is printed to standard output
  std::vector<std::string> skip_passes;
  bool one_memory = false;  // where the target has several for tensors, all lie in one: for a form of output that knows no others
  i64 max_ram = 0;          // --max-ram: the plan may have so many bytes; 0: what the target has for activations; or kLeastRam
  std::string stream;       // --stream AXIS[=FRAMES]: passes/stream.h; empty: the network computes its whole input
  i64 max_rewrites = -1;    // applies only so many rewrites in all, to bisect
};

// Some layers work on int16, or may.
inline bool has_int16(const CompileOptions& o) { return o.quantize.precision == Precision::int16 || o.is_mixed || !o.int16_layers.empty(); }
inline bool has_int4_weights(const CompileOptions& o) { return o.weight_bits != WeightBits::eight || !o.int4_layers.empty(); }

}  // namespace deuteron

// SPDX-License-Identifier: Apache-2.0
// What the user may ask of a compilation.
#pragma once
#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compile/npu_options.h"
#include "compile/quantize/insert_quantization.h"
#include "write/pte/port_notes.h"

namespace deuteron {

// --precision. int4: int8 with weights of four bits, in the layers that have such a form.
enum class NetworkPrecision : u8 { int8, int16, int4, mixed };

// --layer NAME=PRECISION: of an operator, a node or a module, whatever the network's is.
enum class NamedPrecision : u8 { int4, int8, int16, in_float };
// Their names on the command line, in the order of the values.
inline constexpr std::string_view kNetworkPrecisions[] = {"int8", "int16", "int4", "mixed"},
                                  kNamedPrecisions[] = {"int4", "int8", "int16", "float"};
template <class Precision>
std::optional<Precision> read_precision(std::span<const std::string_view> names,
                                        std::string_view text) {
  const auto at = std::ranges::find(names, text);
  return at == names.end() ? std::nullopt
                           : std::optional(static_cast<Precision>(at - names.begin()));
}
inline std::string_view text_of(NetworkPrecision p) {
  return kNetworkPrecisions[static_cast<size_t>(p)];
}
inline std::string_view text_of(NamedPrecision p) {
  return kNamedPrecisions[static_cast<size_t>(p)];
}

struct NamedLayer {
  std::string name;
  NamedPrecision precision;
};

// --max-ram least: as few bytes as bands of rows reach, adding a tenth of the work at most
inline constexpr i64 kLeastRam = -1;

// --io: a program's inputs and outputs are those of the model, so that a TFLite file's int8 tensors
// stay int8; floats; or the quantized tensors themselves.
enum class PortTypes : u8 { model, floats, steps };

struct CompileOptions {
  QuantizeOptions quantize;
  NpuOptions npu;
  NetworkPrecision precision = NetworkPrecision::int8;
  std::vector<NamedLayer> layers;
  // Of `mixed`, MixedPrecision (compile/quantize/precision_search.h). Of `int4`, WeightLimits
  // (compile/quantize/weight_search.h): with one, a search chooses the layers.
  std::optional<double> max_cost, target_db, max_loss_db;
  bool may_use_float = true;  // layers that int8 or int16 does not suit may stay in float
  PortTypes ports = PortTypes::model;
  ByteInputs
      byte_inputs;  // --io u8: those that the program takes as bytes, and what they stand for
  // --io contiguous: keep the user's memory format even if that costs a transpose
  bool contiguous_io = false;
  bool packed_weights = false;     // for kernels that only our runtime has
  i64 packed_growth_percent = 3;   // by which packing may let the constants grow whatever it saves
  i64 scratch_growth_percent = 2;  // by which the plan may grow for scratch that saves time
  int threads = 0;                 // 0: as many as the machine has
  std::string intermediates;       // folder for the graph after every pass
  std::string stop_after;          // pass name: the result then has only `graph`
  std::vector<std::string> skip_passes;
  bool one_memory = false;  // where the target has several for tensors, all lie in one: for a form
                            // of output that knows no others
  i64 max_ram = 0;        // --max-ram: the plan may have so many bytes; 0: what the target has for
                          // activations; or kLeastRam
  std::string stream;     // --stream AXIS[=FRAMES]: compile/simplify/stream.h; empty: the network
                          // computes its whole input
  i64 max_rewrites = -1;  // applies only so many rewrites in all, to bisect
};

inline bool names_layer(const CompileOptions& o, NamedPrecision precision) {
  return std::ranges::find(o.layers, precision, &NamedLayer::precision) != o.layers.end();
}
// Some layers work on int16, or may.
inline bool has_int16(const CompileOptions& o) {
  return o.precision == NetworkPrecision::int16 || o.precision == NetworkPrecision::mixed ||
         names_layer(o, NamedPrecision::int16);
}
inline bool has_int4_weights(const CompileOptions& o) {
  return o.precision == NetworkPrecision::int4 || names_layer(o, NamedPrecision::int4);
}
inline bool searches_int4_layers(const CompileOptions& o) {
  return o.precision == NetworkPrecision::int4 && (o.max_loss_db || o.target_db);
}

}  // namespace deuteron

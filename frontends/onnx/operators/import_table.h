// SPDX-License-Identifier: Apache-2.0
// Which function imports which operator of ONNX. Each file of this folder holds the functions of
// one subject and ends with their rows.
#pragma once
#include <span>
#include <string_view>

#include "frontends/onnx/call/call.h"

namespace deuteron::onnx {

struct ImportRow {
  std::string_view op;  // "Conv"
  void (*import)(Call&);
  std::string_view domain = {};   // "": the standard's
  bool moves_elements = false;    // only: what it makes of quantized values has their steps
  StandIn takes = StandIn::none;  // what it may read
};
using ImportRows = std::span<const ImportRow>;

inline constexpr std::string_view kMicrosoft = "com.microsoft";  // the operators of ONNX Runtime

#define DEUTERON_ONNX_FILES(FILE) \
  FILE(activations)               \
  FILE(arithmetic)                \
  FILE(attention)                 \
  FILE(blocks)                    \
  FILE(caches)                    \
  FILE(causal)                    \
  FILE(choices)                   \
  FILE(classical)                 \
  FILE(constants)                 \
  FILE(convolution)               \
  FILE(folding)                   \
  FILE(fused)                     \
  FILE(grids)                     \
  FILE(integer_layers)            \
  FILE(linear)                    \
  FILE(moves)                     \
  FILE(normalization)             \
  FILE(pooling)                   \
  FILE(positions)                 \
  FILE(quantization)              \
  FILE(recurrent)                 \
  FILE(reductions)                \
  FILE(resizing)                  \
  FILE(shapes)                    \
  FILE(spectra)                   \
  FILE(trees)                     \
  FILE(unpooling)

#define DEUTERON_DECLARE_ROWS(file) ImportRows file##_rows();
DEUTERON_ONNX_FILES(DEUTERON_DECLARE_ROWS)
#undef DEUTERON_DECLARE_ROWS

// The rows of all files, one list for each.
std::span<const ImportRows> import_tables();

// Null: not supported.
const ImportRow* find_import(std::string_view op, std::string_view domain);

}  // namespace deuteron::onnx

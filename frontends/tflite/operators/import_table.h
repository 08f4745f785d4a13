// SPDX-License-Identifier: Apache-2.0
// Which function imports which builtin of TFLite. Each file of this folder holds the functions of
// one subject and ends with their rows.
#pragma once
#include <span>

#include "frontends/tflite/call/call.h"

namespace deuteron::tflite {

struct ImportRow {
  BuiltinOperator builtin;
  void (*import)(Call&);
  Int16 int16 = Int16::refused;
};
using ImportRows = std::span<const ImportRow>;

#define DEUTERON_TFLITE_FILES(FILE) \
  FILE(activations)                 \
  FILE(arithmetic)                  \
  FILE(blocks)                      \
  FILE(branches)                    \
  FILE(conversions)                 \
  FILE(convolution)                 \
  FILE(moves)                       \
  FILE(picking)                     \
  FILE(pooling)                     \
  FILE(recurrent)                   \
  FILE(reductions)                  \
  FILE(shapes)                      \
  FILE(scatter)                     \
  FILE(slices)                      \
  FILE(spectra)                     \
  FILE(svdf)                        \
  FILE(variables)                   \
  FILE(volumes)                     \
  FILE(windows)

#define DEUTERON_DECLARE_ROWS(file) ImportRows file##_rows();
DEUTERON_TFLITE_FILES(DEUTERON_DECLARE_ROWS)
#undef DEUTERON_DECLARE_ROWS

// The rows of all files, one list for each.
std::span<const ImportRows> import_tables();

// Null: not supported.
const ImportRow* find_import(i32 builtin);

}  // namespace deuteron::tflite

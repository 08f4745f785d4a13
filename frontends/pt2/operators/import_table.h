// SPDX-License-Identifier: Apache-2.0
// Which function imports which operator of torch. Each file of this folder holds the functions of
// one subject and ends with their rows, sorted.
#pragma once
#include <span>
#include <string_view>

#include "frontends/pt2/call/call.h"

namespace deuteron::pt2 {

struct ImportRow {
  std::string_view target;  // "aten.conv2d.default"
  void (*import)(Call&);
  // "aten.relu_.default" is imported by the row of "aten.relu.default"
  bool has_in_place_form = false;
  // and changes no element: "aten.squeeze_.dim", whose operand nothing reads again
  bool in_place_is_view = false;
};
using ImportRows = std::span<const ImportRow>;

// The files. A target that two of them have is imported by the first one's function, which may hand
// it on; leftovers are asked last.
#define DEUTERON_IMPORT_FILES(FILE)                                                                \
  FILE(activations)                                                                                \
  FILE(arithmetic)                                                                                 \
  FILE(attention)                                                                                  \
  FILE(batch_norm)                                                                                 \
  FILE(choices)                                                                                    \
  FILE(compositions)                                                                               \
  FILE(constants)                                                                                  \
  FILE(convolution)                                                                                \
  FILE(distances) FILE(einsum) FILE(grids) FILE(identities) FILE(index_put) FILE(integrals)        \
      FILE(interpolation) FILE(known_sizes) FILE(linear) FILE(lookups) FILE(losses) FILE(matrices) \
          FILE(moves) FILE(normalization) FILE(ordering) FILE(picking) FILE(pooling)               \
              FILE(positions) FILE(quantization) FILE(questions) FILE(rearrangements)              \
                  FILE(recurrent) FILE(reductions) FILE(resampling) FILE(scans) FILE(shapes)       \
                      FILE(tables) FILE(volumes) FILE(windows) FILE(leftovers)
// The files whose rows are asked for nodes with a complex operand or result, and for others after
// all of the above.
#define DEUTERON_COMPLEX_IMPORT_FILES(FILE) \
  FILE(complex_matrices) FILE(complex_numbers) FILE(spectra)

#define DEUTERON_DECLARE_ROWS(file) ImportRows file##_rows();
DEUTERON_IMPORT_FILES(DEUTERON_DECLARE_ROWS)
DEUTERON_COMPLEX_IMPORT_FILES(DEUTERON_DECLARE_ROWS)
#undef DEUTERON_DECLARE_ROWS

// The rows of all files, one list for each.
std::span<const ImportRows> import_tables();
std::span<const ImportRows> complex_import_tables();

// The row of a target or, for an in-place spelling, of the operator that it is a form of.
struct FoundRow {
  const ImportRow* row = nullptr;  // null: not known
  bool in_place = false;           // changes its operand
};
FoundRow find_import(std::string_view target, bool is_complex = false);

}  // namespace deuteron::pt2

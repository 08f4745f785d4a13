// SPDX-License-Identifier: Apache-2.0
// Where the tensors of a Neutron IR model lie: which share memory (views, parts of a concatenation,
// slices), which are written straight to an output, and the offsets of the others in the scratch.
#pragma once
#include "npu/neutron/converter/operation.h"

namespace deuteron::neutron {

// The tensor lies inside `root` from byte `offset` on; from a pixel to the next (all axes but the
// last) it is `pitch` bytes.
struct Place {
  TensorId root = kNoTensor;
  i64 offset = 0, pitch = 0;
};

enum class Home : u8 { none, input, output, constant, scratch };
struct Root {
  Home home = Home::none;
  i64 index = 0;   // of the input or output
  i64 offset = 0;  // in the scratch
};

struct Placement {
  std::vector<Place> place;  // by tensor
  std::vector<Root> root;    // by tensor; for those that are roots
  std::vector<bool> free;    // by operation: nothing to do, its result lies there already
  std::vector<std::vector<bool>>
      part_free;  // by operation: the operands that lie there already; empty: none
  i64 scratch_bytes = 0;
};

// Gives every output a tensor of its own that an operation makes, then places. `share`: false makes
// every view, slice and concatenation a copy.
Placement place_tensors(Model& model, bool share);

inline constexpr i64 kSectionAlignment = 16;  // of a payload's sections and of what lies in them

}  // namespace deuteron::neutron

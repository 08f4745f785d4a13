// SPDX-License-Identifier: Apache-2.0
// The kernels that the converter lists, each with the operators that it computes: the part of
// kernel_map.h that looks at tensors.
#pragma once
#include <string>
#include <vector>

#include "npu/neutron/vendor/console_dump.h"
#include "npu/neutron/vendor/model_face.h"

namespace deuteron::neutron {

// By row of dump.extracted.
struct ListedKernels {
  std::vector<i32> ops;  // sorted
  std::string open;  // why there are none, or why they cannot be told apart; empty: they are known
  bool agrees = true;  // the row lists the operators that its graph has
};

struct Regions {
  std::vector<ListedKernels> rows;
  std::vector<bool> gaps;  // by row, and behind the last: the list may lack rows before it, as
                           // nobody makes what later rows read
};

Regions find_regions(const ConsoleDump& dump, const ModelFace& model);

// Operators that never change a byte: where no kernel lists one, none computes it.
bool is_same_bytes(const std::string& type);

}  // namespace deuteron::neutron

// SPDX-License-Identifier: Apache-2.0
// Which operators of the model each kernel call of the vendor's microcode computes, from what the
// converter prints.
//
// A tensor that keeps its name through the conversion is the same value before and after, so it is
// an anchor. Kernel calls that hand tensors without such a name to each other form a region; a
// region computes the operators between the anchors that it reads and those that it writes,
// whatever they were turned into: one to one, fused, split, several kernels for one, parallel
// kernels of one input, joins. Inside a region a call gets the operators that its own list names,
// where that is only possible in one way; else it counts for the region as a whole. Operators in no
// region have no kernel: the converter removed them. Kernels that no list names were added; a copy
// of constants gets the operators of the calls that read where it writes, where the text shows both
// addresses.
//
// What the text leaves open stays open, with the reason: a call without operators, or one row for
// operators that cannot be told apart. A text that is damaged, or of another form than we know,
// opens the kernels that it does not show whole, and no others: rows that are understood are laid
// beside the calls where that is possible in one way. Such a text is never an error.
#pragma once
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "npu/neutron/vendor/console_dump.h"
#include "npu/neutron/vendor/model_face.h"

namespace deuteron::neutron {

struct MappedKernel {
  std::string name;  // "Conv2DStandardV1"
  std::vector<i32>
      ops;  // of the model that was given, sorted; empty: added by the converter, or not known
  std::string open;  // what is not known of it, and why; empty: nothing
};

struct KernelMap {
  std::vector<MappedKernel> kernels;  // in the order of the calls: the kernel index of a profile
  std::vector<i32> without_kernel;    // operators that no kernel computes
  std::vector<i32> unknown;  // operators whose kernel, if they have one, the text does not say
  std::string fault;         // why nothing in the text is used; empty: it is
};

// `calls`: the kernels of the microcode, where we can read it; empty: what the text says.
// `fetches`: the microcode also copies constants, which the list of kernels does not have.
KernelMap map_kernels(const ConsoleDump& dump, const ModelFace& model,
                      std::span<const std::string> calls, bool fetches = false);

}  // namespace deuteron::neutron

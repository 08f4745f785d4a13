// SPDX-License-Identifier: Apache-2.0
// For whoever asks what calls have, on a host.
#pragma once
#include <vector>

#include "runtime/kernel.h"

namespace deuteron {

// The same kernels without the forms of ready calls. A load plan that has some is not used then, and the FlatBuffer has all arguments.
struct KernelsWithArguments {
  std::vector<Kernel> kernels;
  std::vector<const Kernel*> pointers;
  explicit KernelsWithArguments(const KernelTable& table) {
    for (int32_t i = 0; i < table.count; ++i) kernels.push_back(*table.kernels[i]), kernels.back().ready = {};
    for (const Kernel& k : kernels) pointers.push_back(&k);
  }
};

}  // namespace deuteron

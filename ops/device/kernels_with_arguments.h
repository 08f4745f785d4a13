// SPDX-License-Identifier: Apache-2.0
// For whoever asks what calls have, on a host.
#pragma once
#include <vector>

#include "runtime/backend.h"

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

// The same backends, which look at their payloads and open nothing: asking needs no driver that takes them.
struct UnopenedBackends {
  std::vector<Backend> backends;
  std::vector<const Backend*> pointers;
  explicit UnopenedBackends(const KernelTable& table) {
    for (int32_t i = 0; i < table.backend_count; ++i) {
      Backend& b = backends.emplace_back(*table.backends[i]);
      b.open = [](void*) { return Status{}; };
      b.close = [](void*) {};
    }
    for (const Backend& b : backends) pointers.push_back(&b);
  }
};

}  // namespace deuteron

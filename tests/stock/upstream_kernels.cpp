// SPDX-License-Identifier: Apache-2.0
// ExecuTorch's own kernels register themselves before main: nothing of ours is added
// (stock_kernels.cpp, stock_neutron.cpp), or our backend alone: DEUTERON_TABLE is its kernels, or
// with DEUTERON_COMPILED it is the one that `deuteron firmware --as executorch` wrote.
#include <cstddef>

#ifdef DEUTERON_COMPILED
#include <cstdlib>

#include "deuteron_backend.h"

void register_our_kernels(const void*, size_t, bool) {
  alignas(16) static unsigned char scratch[DEUTERON_COMPILED];  // bytes
  if (register_deuteron_backend({scratch, sizeof scratch}) != executorch::runtime::Error::Ok)
    std::abort();
}
#elif defined(DEUTERON_TABLE)
#include <cstdlib>

#include "runtime/executorch/backend.h"

extern const deuteron::KernelTable kFirmwareKernels;  // of a firmware project
void register_our_kernels(const void*, size_t, bool) {
  if (deuteron::register_executorch_backend(DEUTERON_TABLE) != executorch::runtime::Error::Ok)
    std::abort();
}
#else
void register_our_kernels(const void*, size_t, bool) {}
#endif
void register_neutron() {}

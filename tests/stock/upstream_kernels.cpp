// SPDX-License-Identifier: Apache-2.0
// ExecuTorch's own kernels register themselves before main: nothing of ours is added
// (stock_kernels.cpp, stock_neutron.cpp), or our backend alone: DEUTERON_TABLE is its kernels.
#include <cstddef>

#ifdef DEUTERON_TABLE
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

// SPDX-License-Identifier: Apache-2.0
// What newlib and the driver lack for the stock runtime with NXP's delegate on an emulated board:
// tracing_board.py.
#include <malloc.h>

#include <cstddef>
#include <cstdio>
#include <cstdlib>

#include "npu/neutron/machine/handle_memory.h"

extern "C" int posix_memalign(void** memory, size_t alignment, size_t bytes) {
  *memory = memalign(alignment, bytes);
  return *memory ? 0 : 12;  // ENOMEM
}

// The delegate brings no memory for a handle.
namespace deuteron::neutron {
void* allocate_handle(size_t bytes) { return std::malloc(bytes); }
void free_handle(void* handle) { std::free(handle); }
}  // namespace deuteron::neutron

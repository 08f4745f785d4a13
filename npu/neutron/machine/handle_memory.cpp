// SPDX-License-Identifier: Apache-2.0
// From the heap of a computer's operating system; there is none on a microcontroller.
#include "npu/neutron/machine/handle_memory.h"

#if defined(__linux__) || defined(__APPLE__) || defined(_WIN32)
#include <cstdlib>

namespace deuteron::neutron {
void* allocate_handle(size_t bytes) { return std::malloc(bytes); }
void free_handle(void* handle) { std::free(handle); }
}  // namespace deuteron::neutron

#else

namespace deuteron::neutron {
void* allocate_handle(size_t) { return nullptr; }
void free_handle(void*) {}
}  // namespace deuteron::neutron

#endif

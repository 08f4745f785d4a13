// SPDX-License-Identifier: Apache-2.0
// Memory for a handle when the caller brings none.
#pragma once
#include <cstddef>

namespace deuteron::neutron {

// Null on a microcontroller: the driver has no heap there. On a computer the stock delegate brings
// none (unless it is built with NO_HEAP_USAGE).
void* allocate_handle(size_t bytes);
void free_handle(void* handle);

}  // namespace deuteron::neutron

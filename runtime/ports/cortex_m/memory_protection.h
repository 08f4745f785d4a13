// SPDX-License-Identifier: Apache-2.0
// What a wild pointer does on a board: it faults. Without the protection unit most unused addresses
// read as zero and swallow writes there.
#pragma once

namespace deuteron {

// Allows the code (read only), RAM above the stack's guard, the pool and the peripherals; all else
// faults.
void protect_memory();

}  // namespace deuteron

// SPDX-License-Identifier: Apache-2.0
// Who runs the machine's work. Where there is no machine the CPU does it, and whoever counts the
// CPU's instructions wants that apart.
#pragma once

namespace deuteron::neutron {

// Calls work(argument) once. Null: neutronRunBlocking() does it itself. To be set before the first
// run.
using SimulateIn = void (*)(void (*work)(void*), void* argument);
extern SimulateIn simulate_in;

}  // namespace deuteron::neutron

// SPDX-License-Identifier: Apache-2.0
// Writes the load plan of a program behind its file, which our runtime then loads without reading the FlatBuffer. Format:
// runtime/load_plan.h.
#pragma once
#include <cstdint>
#include <string_view>
#include <vector>

#include "runtime/kernel.h"

namespace deuteron {

// Loads the program, which is for `isa`, as a device does and writes down what that came to. Null on success and the file is then longer;
// else why there is no plan: the file calls a delegate, keeps states, has calls that no plan can hold, or does not load.
const char* add_load_plan(std::vector<uint8_t>& file, Isa isa, const KernelTable& kernels);
bool has_load_plan(const std::vector<uint8_t>& file);
// Whether the file has no plan, or that of the FlatBuffer before it, for the instruction set that this names (or for any, where it names
// none). A device loads the plan and never asks; the host's tools read the FlatBuffer, and must not say one thing where the device does
// another.
bool agrees_with_load_plan(const std::vector<uint8_t>& file, std::string_view isa, const KernelTable& kernels);

}  // namespace deuteron

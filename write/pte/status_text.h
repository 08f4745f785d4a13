// SPDX-License-Identifier: Apache-2.0
// What the user is told when the runtime refuses a program: one text for the host, the boards and
// the inspector.
#pragma once
#include <string>
#include <string_view>

#include "base/diagnostic.h"
#include "runtime/status.h"

namespace deuteron {

// Status::detail of runtime/flatbuffer.cpp.
inline constexpr std::string_view kTooManySteps = "the program is too large to be checked";

// "m.pte: error: the runtime refuses the program: instruction 3, cortex_m::quantized_add, argument
// 7: must be an int  [pte.bad_argument]"
Diagnostic describe_status(const std::string& where, const Status& status);

// "error 0x4b (component 3, category 9, code 0)": the number of the driver behind a Neutron
// delegate, taken apart.
std::string describe_neutron_error(int32_t error);

// What to do about a refusal of this kind; by the name of the code, as a board prints it.
std::string advice_for(std::string_view code);

}  // namespace deuteron

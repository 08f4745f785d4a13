// SPDX-License-Identifier: Apache-2.0
// The licence of the code that is written for a user: firmware projects, C output and packages.
#pragma once
#include <map>
#include <string>

#include "write/firmware/sources.h"

namespace deuteron {

inline constexpr std::string_view kSpdxLine = "SPDX-License-Identifier: Apache-2.0";

// Puts the SPDX line into each source that has none, the text of the licence beside them, and a
// sentence into README.md. `files`: path in the folder, and content. Models, inputs and lists are
// no code and stay as they are.
void add_license(std::map<std::string, std::string>& files, const RuntimeSources& runtime);

}  // namespace deuteron

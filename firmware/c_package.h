// C output as a library of another build system: `deuteron firmware --as arduino`. docs/c-output.md says what the files are.
#pragma once
#include <map>
#include <string>

#include "firmware/c_output.h"

namespace deuteron {

// A folder for `libraries/` of an Arduino sketchbook, with the name of the first model: path in the folder, and content. Constants are an
// array and no model has parts for the NPU, since Arduino's builder takes no flags from a library.
std::map<std::string, std::string> arduino_files(const COutput& output, const RuntimeSources& runtime);

}  // namespace deuteron

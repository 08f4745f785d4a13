// SPDX-License-Identifier: Apache-2.0
// The shapes that the user gives to the inputs of a model which leaves sizes open: `--input-shape
// NAME=1,3,96,96`.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "base/diagnostic.h"
#include "base/tensor/type.h"

namespace deuteron {

using InputShapes = std::map<std::string, Shape>;  // by the input's name

// Each text is `NAME=1,3,96,96`. Extents are 1 and more; what is not so is reported.
InputShapes parse_input_shapes(const std::vector<std::string>& texts, Diagnostics& diagnostics);

}  // namespace deuteron

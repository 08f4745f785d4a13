// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "write/firmware/c_program.h"

namespace deuteron {

// mlperf_tiny_tables.h, for a model whose input has these steps.
std::string wake_word_tables(const CPort& input);

}  // namespace deuteron

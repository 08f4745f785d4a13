// SPDX-License-Identifier: Apache-2.0
// Writes a file whole or not at all: beside the target under a temporary name, synced, then
// renamed.
#pragma once
#include <span>
#include <string>

#include "base/diagnostic.h"

namespace deuteron {

// Whether it would begin to: for what takes long before it has the bytes.
bool may_write(const std::string& path, Diagnostics& diagnostics);

bool write_file(const std::string& path, std::span<const uint8_t> bytes, Diagnostics& diagnostics);

}  // namespace deuteron

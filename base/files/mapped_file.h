// SPDX-License-Identifier: Apache-2.0
// A file mapped into memory, read-only, until the last owner is gone.
#pragma once
#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "base/diagnostic.h"

namespace deuteron {

struct MappedFile {
  std::shared_ptr<const void> owner;  // null: could not be mapped, a diagnostic says why
  std::span<const std::byte> bytes;
};
MappedFile map_file(const std::string& path, Diagnostics& diagnostics);

}  // namespace deuteron

// SPDX-License-Identifier: Apache-2.0
// The zip container of a `.pt2` file: entries are stored, never compressed, so their bytes are used
// where the file is mapped. Nothing is copied and nothing is allocated in proportion to a size that
// the file claims.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/diagnostic.h"

struct zip;

namespace deuteron::pt2 {

struct ArchiveEntry {
  std::string name;  // below the root folder: "models/model.json"
  std::span<const std::byte> bytes;
  uint64_t index = 0;        // in the central directory
  zip* directory = nullptr;  // that it is in: the archive's, or that of an archive inside of it
};

struct Archive {
  std::string name;                   // the path, for messages
  std::shared_ptr<const void> owner;  // keeps the bytes mapped
  std::span<const std::byte> bytes;
  std::vector<ArchiveEntry> entries;  // sorted by name
  std::shared_ptr<zip> directory;     // libzip's view of the same bytes, for the checksums
  std::vector<std::shared_ptr<const Archive>>
      nested;  // weights as torch.save writes them; their entries are here, too: `model.pt/data/0`
};

// Maps the file. The directory is checked as a whole: every entry stored, inside the file, apart
// from every other, named once, and described in the same way by its local header.
std::shared_ptr<const Archive> open_archive(const std::string& path, Diagnostics& diagnostics);

// The same for bytes in memory that `owner` keeps alive.
std::shared_ptr<const Archive> open_archive(std::span<const std::byte> bytes,
                                            std::shared_ptr<const void> owner, std::string name,
                                            Diagnostics& diagnostics);

const ArchiveEntry* find_entry(const Archive& archive,
                               std::string_view name);  // null: there is none

// Reads the entry once and compares its checksum with the directory's. Not thread-safe for one
// archive.
bool is_intact(const Archive& archive, const ArchiveEntry& entry);

}  // namespace deuteron::pt2

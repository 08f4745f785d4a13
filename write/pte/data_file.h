// SPDX-License-Identifier: Apache-2.0
// ExecuTorch may write a program's constants to files of their own (`.ptd`), found by names. Our
// runtime takes a program of one file: it is made here.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/diagnostic.h"

namespace deuteron {

struct DataFile {
  std::string path;
  std::span<const std::byte> bytes;
};

// How many tensors of a program have their data in a data file; 0 where it cannot be read.
int64_t tensors_elsewhere(std::span<const std::byte> program);
// The program with the data of `files` in it. Nothing: an error says why.
std::optional<std::vector<uint8_t>> with_data(std::span<const std::byte> program,
                                              const std::string& path,
                                              std::span<const DataFile> files,
                                              Diagnostics& diagnostics);

}  // namespace deuteron

// SPDX-License-Identifier: Apache-2.0
// NumPy's array files, versions 1.0 to 3.0. Format: numpy.lib.format
// (https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html).
#pragma once
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/data/array.h"
#include "base/diagnostic.h"

namespace deuteron {

// What stands before the data. `file` may end behind the header.
struct NpyHeader {
  ElementType type;
  bool big_endian = false, fortran_order = false;
  Shape shape;
  size_t data_at = 0, data_bytes = 0;  // data_bytes: as the shape says; 2^63 where that is more
};
std::optional<NpyHeader> parse_npy_header(std::span<const std::byte> file, const std::string& where,
                                          Diagnostics& diagnostics);

// Either byte order and either storage order is brought to the host's byte order and row-major;
// real element types only. The data must fill the file exactly. `where` names the file in messages.
std::optional<Array> parse_npy(std::span<const std::byte> file, const std::string& where,
                               Diagnostics& diagnostics);
std::optional<Array> read_npy(const std::string& path, Diagnostics& diagnostics);

// A whole file, version 1.0.
std::vector<uint8_t> npy_bytes(ElementType type, const Shape& shape,
                               std::span<const std::byte> data);

}  // namespace deuteron

// NumPy's array files, versions 1.0 to 3.0. Format: numpy.lib.format
// (https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html).
#pragma once
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "data/array.h"
#include "ir/diagnostic.h"

namespace deuteron {

// Either byte order and either storage order is brought to the host's byte order and row-major; real element types only.
// The data must fill the file exactly. `where` names the file in messages.
std::optional<Array> parse_npy(std::span<const std::byte> file, const std::string& where, Diagnostics& diagnostics);
std::optional<Array> read_npy(const std::string& path, Diagnostics& diagnostics);

// A whole file, version 1.0.
std::vector<uint8_t> npy_bytes(ElementType type, const Shape& shape, std::span<const std::byte> data);

}  // namespace deuteron

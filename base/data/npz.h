// SPDX-License-Identifier: Apache-2.0
// NumPy's archives of arrays (`numpy.savez`, `numpy.savez_compressed`): a zip of `.npy` files.
#pragma once
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/data/array.h"
#include "base/diagnostic.h"

namespace deuteron {

using AcceptShape = std::function<bool(const Shape&)>;

// An opened archive; names are without `.npy`.
class Npz {
 public:
  static std::optional<Npz> open(const std::string& path, Diagnostics& diagnostics);
  const std::vector<std::string>& names() const { return names_; }
  // Reads one array; messages say "path:name". `accept` is asked about its shape before its data
  // are unpacked, and has said why if it refuses.
  std::optional<Array> read(const std::string& name, const AcceptShape& accept,
                            Diagnostics& diagnostics) const;

 private:
  std::string path_;
  std::vector<std::byte> file_;
  std::vector<std::string> names_;
};

}  // namespace deuteron

// SPDX-License-Identifier: Apache-2.0
// The right answers of a classification: class numbers, one for each sample.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "base/data/array.h"
#include "base/diagnostic.h"

namespace deuteron {

// From a `.npy` of whole numbers, or a `.bin` of bytes: `samples` numbers from 0 to classes - 1.
std::optional<std::vector<i64>> read_labels(const std::string& path, i64 samples, i64 classes,
                                            Diagnostics& diagnostics);
std::optional<std::vector<i64>> labels_of(const Array& array, const std::string& path, i64 samples,
                                          i64 classes, Diagnostics& diagnostics);

}  // namespace deuteron

// SPDX-License-Identifier: Apache-2.0
#include "base/data/labels.h"

#include <fmt/format.h>

#include "base/data/npy.h"
#include "base/files/read_file.h"

namespace deuteron {

std::optional<std::vector<i64>> read_labels(const std::string& path, i64 samples, i64 classes,
                                            Diagnostics& diagnostics) {
  std::optional<Array> array;
  if (path.ends_with(".bin")) {
    if (std::optional<std::vector<std::byte>> bytes = read_file(path, diagnostics))
      array = Array{{'u', 1}, {static_cast<i64>(bytes->size())}, std::move(*bytes)};
  } else {
    array = read_npy(path, diagnostics);
  }
  return array ? labels_of(*array, path, samples, classes, diagnostics) : std::nullopt;
}

std::optional<std::vector<i64>> labels_of(const Array& array, const std::string& path, i64 samples,
                                          i64 classes, Diagnostics& diagnostics) {
  const auto refuse = [&](std::string what, std::string measured, std::string limit) {
    diagnostics.add({Severity::error, path, std::move(what), std::move(measured), std::move(limit),
                     "labels",
                     "labels are class numbers: a .npy of whole numbers or a .bin of bytes, one "
                     "for each sample"});
    return std::nullopt;
  };
  if (array.elements() != samples)
    return refuse("there are not as many labels as samples", std::to_string(array.elements()),
                  std::to_string(samples));
  std::vector<i64> labels(static_cast<size_t>(samples));
  for (i64 s = 0; s < samples; ++s) {
    if (!element_as_integer(array, s, &labels[s]))
      return refuse(fmt::format("label {} is not a whole number", s), to_text(array.type),
                    "integers");
    if (labels[s] < 0 || labels[s] >= classes)
      return refuse(fmt::format("label {} is not a class of the program's first output", s),
                    std::to_string(labels[s]), fmt::format("0 to {}", classes - 1));
  }
  return labels;
}

}  // namespace deuteron

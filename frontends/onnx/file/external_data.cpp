// SPDX-License-Identifier: Apache-2.0
#include "frontends/onnx/file/external_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "base/files/mapped_file.h"

namespace deuteron::onnx {

namespace fs = std::filesystem;

// The path is what a stranger wrote: neither it nor a link on the way may leave the folder of the
// model.
static bool stays_inside(const fs::path& folder, const fs::path& path) {
  std::error_code failure;
  const fs::path top = fs::weakly_canonical(folder, failure),
                 whole = fs::weakly_canonical(path, failure);
  if (failure) return false;
  return std::mismatch(top.begin(), top.end(), whole.begin(), whole.end()).first == top.end();
}

static bool is_plain(const fs::path& path) {
  return !path.empty() && path.is_relative() &&
         std::none_of(path.begin(), path.end(), [](const fs::path& p) { return p == ".."; });
}

std::optional<Constant> ExternalFiles::read(const Place& place, i64 bytes, Diagnostic& fault) {
  const auto fail = [&](std::string what, std::string rule, std::string measured = {},
                        std::string limit = {}, std::string fix = {}) {
    fault.what = std::move(what), fault.rule = std::move(rule), fault.fix = std::move(fix);
    fault.measured = std::move(measured), fault.limit = std::move(limit);
    return std::nullopt;
  };
  if (folder_.empty())
    return fail("has its elements in another file, and the model comes from none",
                "onnx.external.folder");
  const fs::path folder(folder_), path = folder / place.location;
  if (place.location.find('\0') != std::string::npos || !is_plain(place.location) ||
      !stays_inside(folder, path))
    return fail(fmt::format("has its elements in `{}`, which leaves the folder of the model",
                            place.location),
                "onnx.external.path", {}, {},
                "put the file next to the model, and save the model with a relative location");
  File& file = files_[place.location];
  if (!file.owner) {
    Diagnostics reasons;
    const MappedFile mapped = map_file(path.string(), reasons);
    if (!mapped.owner)
      return fail(fmt::format("has its elements in `{}`, which {}", place.location,
                              reasons.list().empty() ? "cannot be read" : reasons.list()[0].what),
                  "onnx.external.file", {}, {}, "copy the file of external data beside the model");
    file = {mapped.owner, mapped.bytes};
  }
  const i64 size = static_cast<i64>(file.bytes.size());
  if (place.length >= 0 && place.length != bytes)
    return fail("has another number of bytes in its file than its shape says",
                "onnx.external.length", std::to_string(place.length), std::to_string(bytes));
  if (place.offset < 0 || place.offset > size || bytes > size - place.offset)
    return fail(fmt::format("has elements beyond the end of `{}`", place.location),
                "onnx.external.range", fmt::format("{} bytes from {}", bytes, place.offset),
                fmt::format("{} bytes", size));
  return Constant{file.owner, file.bytes.subspan(static_cast<size_t>(place.offset),
                                                 static_cast<size_t>(bytes))};
}

}  // namespace deuteron::onnx

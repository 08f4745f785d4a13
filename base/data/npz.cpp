// SPDX-License-Identifier: Apache-2.0
#include "base/data/npz.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <zip.h>

#include <algorithm>
#include <memory>

#include "base/data/npy.h"
#include "base/files/open_zip.h"
#include "base/files/read_file.h"

namespace deuteron {
namespace {

// Numbers hardly shrink to less than a hundredth; zeros do, to a thousandth. What is stored without
// compression may be of any size.
constexpr size_t kMostUnpacked = size_t{1} << 25, kMostExpansion = 100;
constexpr size_t kMostHeader = size_t{1} << 17;  // of a `.npy` file, and more
constexpr zip_int64_t kMaxEntries = 1 << 16;
constexpr const char* kAgain = "write it with numpy.savez";

struct CloseEntry {
  void operator()(zip_file_t* f) const { zip_fclose(f); }
};

// Memory grows with what is really there: the size that the archive claims is not believed. False:
// a fault of the entry.
bool unpack_up_to(zip_file_t* entry, size_t most, std::vector<std::byte>& bytes) {
  while (bytes.size() < most) {
    const size_t had = bytes.size(),
                 step = std::min(std::max<size_t>(had / 2, size_t{1} << 16), most - had);
    bytes.resize(had + step);
    const zip_int64_t n = zip_fread(entry, bytes.data() + had, step);
    bytes.resize(had + static_cast<size_t>(std::max<zip_int64_t>(n, 0)));
    if (n <= 0) return n == 0;
  }
  return true;
}

}  // namespace

std::optional<Npz> Npz::open(const std::string& path, Diagnostics& diagnostics) {
  std::optional<std::vector<std::byte>> bytes = read_file(path, diagnostics);
  if (!bytes) return std::nullopt;
  Npz npz;
  npz.path_ = path;
  npz.file_ = std::move(*bytes);
  std::string fault;
  const Zip zip = open_zip(npz.file_, 0, fault);
  if (!zip)
    return diagnostics.error(path, "is not a readable `.npz` archive: " + fault, "npz.archive",
                             kAgain),
           std::nullopt;
  const zip_int64_t count = zip_get_num_entries(zip.get(), 0);
  if (count > kMaxEntries) {
    diagnostics.add({Severity::error, path, "has too many arrays", std::to_string(count),
                     std::to_string(kMaxEntries), "npz.entries", ""});
    return std::nullopt;
  }
  for (zip_int64_t i = 0; i < count; ++i) {
    const char* name = zip_get_name(zip.get(), static_cast<zip_uint64_t>(i), ZIP_FL_ENC_RAW);
    std::string text = name ? name : "";
    if (!text.ends_with(".npy")) continue;
    text.resize(text.size() - 4);
    if (std::find(npz.names_.begin(), npz.names_.end(), text) != npz.names_.end())
      return diagnostics.error(path, fmt::format("has two arrays of the name `{}`", text),
                               "npz.twice", kAgain),
             std::nullopt;
    npz.names_.push_back(std::move(text));
  }
  return npz;
}

std::optional<Array> Npz::read(const std::string& name, const AcceptShape& accept,
                               Diagnostics& diagnostics) const {
  const std::string where = path_ + ":" + name;
  const auto refuse = [&](const std::string& what, const char* rule, std::string fix = {}) {
    diagnostics.error(where, what, rule, std::move(fix));
    return std::nullopt;
  };
  if (std::find(names_.begin(), names_.end(), name) == names_.end())
    return refuse(
        "the archive has no array of this name", "npz.missing",
        names_.empty()
            ? "it has no arrays at all"
            : fmt::format(
                  "it has: {}",
                  fmt::join(std::vector(
                                names_.begin(),
                                names_.begin() + std::min<i64>(8, static_cast<i64>(names_.size()))),
                            ", ")));
  std::string fault;
  const Zip zip = open_zip(file_, 0, fault);
  if (!zip) return refuse("cannot be read: " + fault, "npz.archive");
  const zip_int64_t index = zip_name_locate(zip.get(), (name + ".npy").c_str(), ZIP_FL_ENC_RAW);
  std::unique_ptr<zip_file_t, CloseEntry> entry(
      index < 0 ? nullptr : zip_fopen_index(zip.get(), static_cast<zip_uint64_t>(index), 0));
  if (!entry)
    return refuse(fmt::format("cannot be read: {}", zip_fault(zip_get_error(zip.get()))),
                  "npz.entry", kAgain);
  std::vector<std::byte> bytes;
  const auto unpack = [&](size_t most) { return unpack_up_to(entry.get(), most, bytes); };
  if (!unpack(kMostHeader))
    return refuse(fmt::format("cannot be unpacked: {}", zip_fault(zip_file_get_error(entry.get()))),
                  "npz.entry", kAgain);
  const std::optional<NpyHeader> header = parse_npy_header(bytes, where, diagnostics);
  if (!header || !accept(header->shape)) return std::nullopt;
  const size_t size = std::min(header->data_at + header->data_bytes, SIZE_MAX - 1),
               limit = std::max(kMostUnpacked, kMostExpansion * file_.size());
  if (size > limit) {
    diagnostics.add({Severity::error, where, "unpacks to far more than the archive has",
                     fmt::format("{} bytes", size), fmt::format("{} bytes", limit), "npz.size",
                     "write it with numpy.savez, which does not compress"});
    return std::nullopt;
  }
  if (!unpack(size + 1))
    return refuse(fmt::format("cannot be unpacked: {}", zip_fault(zip_file_get_error(entry.get()))),
                  "npz.entry", kAgain);
  return parse_npy(bytes, where, diagnostics);
}

}  // namespace deuteron

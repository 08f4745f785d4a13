#include "data/npz.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <zip.h>

#include <algorithm>
#include <memory>

#include "data/npy.h"
#include "data/read_file.h"

namespace deuteron {
namespace {

constexpr zip_uint64_t kMaxArrayBytes = zip_uint64_t{1} << 32;
constexpr zip_int64_t kMaxEntries = 1 << 16;

struct CloseZip {
  void operator()(zip_t* z) const { zip_discard(z); }
};
struct CloseEntry {
  void operator()(zip_file_t* f) const { zip_fclose(f); }
};
using Zip = std::unique_ptr<zip_t, CloseZip>;

// The archive's bytes stay the caller's.
Zip open_zip(std::span<const std::byte> bytes, std::string* fault) {
  zip_error_t error;
  zip_error_init(&error);
  zip_source_t* source = zip_source_buffer_create(bytes.data(), bytes.size(), 0, &error);
  Zip zip(source ? zip_open_from_source(source, ZIP_RDONLY, &error) : nullptr);
  if (!zip) {
    *fault = zip_error_strerror(&error);
    if (source) zip_source_free(source);
  }
  zip_error_fini(&error);
  return zip;
}

}  // namespace

std::optional<Npz> Npz::open(const std::string& path, Diagnostics& diagnostics) {
  std::optional<std::vector<std::byte>> bytes = read_file(path, diagnostics);
  if (!bytes) return std::nullopt;
  Npz npz;
  npz.path_ = path;
  npz.file_ = std::move(*bytes);
  std::string fault;
  const Zip zip = open_zip(npz.file_, &fault);
  if (!zip)
    return diagnostics.error(path, "is not a readable `.npz` archive: " + fault, "npz.archive", "write it with numpy.savez"), std::nullopt;
  const zip_int64_t count = zip_get_num_entries(zip.get(), 0);
  if (count > kMaxEntries) {
    diagnostics.add({Severity::error, path, "has too many arrays", std::to_string(count), std::to_string(kMaxEntries), "npz.entries", ""});
    return std::nullopt;
  }
  for (zip_int64_t i = 0; i < count; ++i) {
    const char* name = zip_get_name(zip.get(), static_cast<zip_uint64_t>(i), ZIP_FL_ENC_RAW);
    std::string text = name ? name : "";
    if (!text.ends_with(".npy")) continue;
    text.resize(text.size() - 4);
    npz.names_.push_back(std::move(text));
  }
  return npz;
}

std::optional<Array> Npz::read(const std::string& name, Diagnostics& diagnostics) const {
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
                  fmt::join(std::vector(names_.begin(), names_.begin() + std::min<i64>(8, static_cast<i64>(names_.size()))), ", ")));
  std::string fault;
  const Zip zip = open_zip(file_, &fault);
  if (!zip) return refuse("cannot be read: " + fault, "npz.archive");
  const zip_int64_t index = zip_name_locate(zip.get(), (name + ".npy").c_str(), ZIP_FL_ENC_RAW);
  std::unique_ptr<zip_file_t, CloseEntry> entry(index < 0 ? nullptr : zip_fopen_index(zip.get(), static_cast<zip_uint64_t>(index), 0));
  if (!entry) return refuse(fmt::format("cannot be read: {}", zip_strerror(zip.get())), "npz.entry");
  // The size that the archive claims is not believed: memory grows with what is really there.
  std::vector<std::byte> bytes;
  for (;;) {
    const size_t had = bytes.size();
    const size_t step = std::max<size_t>(had / 2, size_t{1} << 16);
    bytes.resize(had + step);
    const zip_int64_t n = zip_fread(entry.get(), bytes.data() + had, step);
    if (n < 0) return refuse(fmt::format("cannot be unpacked: {}", zip_file_strerror(entry.get())), "npz.entry");
    bytes.resize(had + static_cast<size_t>(n));
    if (n == 0) break;
    if (bytes.size() > kMaxArrayBytes) return refuse("unpacks to more than 4 GiB", "npz.size");
  }
  return parse_npy(bytes, where, diagnostics);
}

}  // namespace deuteron

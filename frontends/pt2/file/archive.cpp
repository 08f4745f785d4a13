// SPDX-License-Identifier: Apache-2.0
// The central directory is read here because libzip does not tell where an entry's bytes lie;
// libzip then judges the same directory again and computes checksums. Record layouts: PKWARE
// APPNOTE.TXT 6.3, sections 4.3.7 (local header), 4.3.12 (central), 4.3.14 to 4.3.16 (end).
#include "frontends/pt2/file/archive.h"

#include <fmt/format.h>
#include <zip.h>

#include <algorithm>
#include <array>
#include <optional>

#include "base/files/mapped_file.h"
#include "base/files/open_zip.h"
#include "base/number_at.h"

namespace deuteron::pt2 {
namespace {

constexpr uint64_t kEndBytes = 22, kMaxComment = 65535, kLocatorBytes = 20, kEnd64Bytes = 56,
                   kCentralBytes = 46, kLocalBytes = 30;
constexpr uint32_t kEndMark = 0x06054b50, kLocatorMark = 0x07064b50, kEnd64Mark = 0x06064b50,
                   kCentralMark = 0x02014b50, kLocalMark = 0x04034b50;
constexpr uint32_t kUnset32 = 0xffffffff;
constexpr uint16_t kUnset16 = 0xffff, kEncrypted = 1, kZip64Field = 1;

std::string text_at(std::span<const std::byte> bytes, uint64_t offset, uint64_t length) {
  return {reinterpret_cast<const char*>(bytes.data()) + offset, length};
}
bool fits(uint64_t offset, uint64_t length, uint64_t size) {
  return offset <= size && length <= size - offset;
}

struct Directory {
  uint64_t entries, bytes, offset;
};

// Where the end record lies; the last one whose comment reaches exactly to the end of the file.
std::optional<uint64_t> find_end(std::span<const std::byte> bytes) {
  if (bytes.size() < kEndBytes) return std::nullopt;
  const uint64_t last = bytes.size() - kEndBytes,
                 first = last > kMaxComment ? last - kMaxComment : 0;
  for (uint64_t offset = last + 1; offset-- > first;)
    if (number_at<uint32_t>(bytes, offset) == kEndMark &&
        number_at<uint16_t>(bytes, offset + 20) == last - offset)
      return offset;
  return std::nullopt;
}

std::optional<Directory> read_end(std::span<const std::byte> bytes, uint64_t end) {
  if (number_at<uint16_t>(bytes, end + 4) != 0 || number_at<uint16_t>(bytes, end + 6) != 0)
    return std::nullopt;  // more than one disk
  if (number_at<uint16_t>(bytes, end + 8) != number_at<uint16_t>(bytes, end + 10))
    return std::nullopt;
  Directory d{number_at<uint16_t>(bytes, end + 10), number_at<uint32_t>(bytes, end + 12),
              number_at<uint32_t>(bytes, end + 16)};
  uint64_t limit = end;
  if (d.entries == kUnset16 || d.bytes == kUnset32 || d.offset == kUnset32) {
    if (end < kLocatorBytes || number_at<uint32_t>(bytes, end - kLocatorBytes) != kLocatorMark)
      return std::nullopt;
    const uint64_t end64 = number_at<uint64_t>(bytes, end - kLocatorBytes + 8);
    if (!fits(end64, kEnd64Bytes, end - kLocatorBytes) ||
        number_at<uint32_t>(bytes, end64) != kEnd64Mark)
      return std::nullopt;
    d = {number_at<uint64_t>(bytes, end64 + 32), number_at<uint64_t>(bytes, end64 + 40),
         number_at<uint64_t>(bytes, end64 + 48)};
    limit = end64;
  }
  if (!fits(d.offset, d.bytes, limit) || d.entries > d.bytes / kCentralBytes) return std::nullopt;
  return d;
}

struct CentralRecord {
  std::string name;
  uint64_t stored, size, local;
  uint64_t next;  // offset of the record after this one
};

// Values of a central record that do not fit 32 bits stand in its zip64 field, in this order, each
// only when it is needed.
bool read_zip64(std::span<const std::byte> bytes, uint64_t offset, uint64_t length,
                CentralRecord& r) {
  if (r.size != kUnset32 && r.stored != kUnset32 && r.local != kUnset32) return true;
  for (uint64_t i = 0; i + 4 <= length;) {
    const uint64_t field = number_at<uint16_t>(bytes, offset + i),
                   field_bytes = number_at<uint16_t>(bytes, offset + i + 2);
    i += 4;
    if (field_bytes > length - i) return false;
    if (field != kZip64Field) {
      i += field_bytes;
      continue;
    }
    uint64_t used = 0;
    for (uint64_t* value : {&r.size, &r.stored, &r.local}) {
      if (*value != kUnset32) continue;
      if (field_bytes - used < 8) return false;
      *value = number_at<uint64_t>(bytes, offset + i + used);
      used += 8;
    }
    return true;
  }
  return false;
}

constexpr const char* kAgain = "write it again with torch.export.save";
constexpr std::string_view kUnrooted = "serialized_";

// Collects the entries of one archive; the first fault ends it.
class DirectoryReader {
 public:
  DirectoryReader(Archive& archive, Diagnostics& diagnostics)
      : archive_(archive), bytes_(archive.bytes), diagnostics_(diagnostics) {}

  bool read() {
    const auto end = find_end(bytes_);
    if (!end)
      return fail("is not a zip archive, or is cut short: it has no end record",
                  "pt2.archive.truncated");
    const auto directory = read_end(bytes_, *end);
    if (!directory) return fail("has a damaged end record", "pt2.archive.end");
    uint64_t offset = directory->offset;
    for (uint64_t i = 0; i < directory->entries; ++i) {
      const auto record = read_central(offset, directory->offset + directory->bytes);
      if (!record || !add(*record, i, directory->offset)) return false;
      offset = record->next;
    }
    if (offset != directory->offset + directory->bytes)
      return fail("has a directory with bytes that belong to no entry", "pt2.archive.directory");
    return check_overlap() && sort_by_name();
  }

 private:
  bool fail(std::string what, std::string rule, std::string fix = kAgain) {
    diagnostics_.error(archive_.name, std::move(what), std::move(rule), std::move(fix));
    return false;
  }

  std::optional<CentralRecord> read_central(uint64_t o, uint64_t end) {
    if (!fits(o, kCentralBytes, end) || number_at<uint32_t>(bytes_, o) != kCentralMark)
      return fail("has a damaged directory", "pt2.archive.directory"), std::nullopt;
    const uint64_t name_bytes = number_at<uint16_t>(bytes_, o + 28),
                   extra = number_at<uint16_t>(bytes_, o + 30),
                   comment = number_at<uint16_t>(bytes_, o + 32);
    if (!fits(o + kCentralBytes, name_bytes + extra + comment, end))
      return fail("has a damaged directory", "pt2.archive.directory"), std::nullopt;
    CentralRecord r{text_at(bytes_, o + kCentralBytes, name_bytes),
                    number_at<uint32_t>(bytes_, o + 20), number_at<uint32_t>(bytes_, o + 24),
                    number_at<uint32_t>(bytes_, o + 42),
                    o + kCentralBytes + name_bytes + extra + comment};
    if (number_at<uint16_t>(bytes_, o + 8) & kEncrypted)
      return fail(fmt::format("entry `{}` is encrypted", r.name), "pt2.archive.encrypted"),
             std::nullopt;
    if (const uint16_t method = number_at<uint16_t>(bytes_, o + 10); method != 0) {
      diagnostics_.add({Severity::error, archive_.name,
                        fmt::format("entry `{}` is compressed", r.name),
                        fmt::format("method {}", method), "0 (stored)", "pt2.archive.compressed",
                        "write the file with torch.export.save and do not zip it again"});
      return std::nullopt;
    }
    if (!read_zip64(bytes_, o + kCentralBytes + name_bytes, extra, r) || r.size != r.stored)
      return fail(fmt::format("entry `{}` has contradictory sizes", r.name), "pt2.archive.size"),
             std::nullopt;
    return r;
  }

  bool add(const CentralRecord& r, uint64_t index, uint64_t directory_offset) {
    if (!fits(r.local, kLocalBytes, directory_offset) ||
        number_at<uint32_t>(bytes_, r.local) != kLocalMark)
      return fail(fmt::format("entry `{}` does not start inside the file", r.name),
                  "pt2.archive.offset");
    const uint64_t name_bytes = number_at<uint16_t>(bytes_, r.local + 26),
                   extra = number_at<uint16_t>(bytes_, r.local + 28);
    const uint64_t data = r.local + kLocalBytes + name_bytes + extra;
    if (!fits(data, r.size, directory_offset)) {
      diagnostics_.add({Severity::error, archive_.name,
                        fmt::format("entry `{}` reaches past the end of the data", r.name),
                        fmt::format("offset {} + {} bytes", data, r.size),
                        fmt::format("{}", directory_offset), "pt2.archive.size", kAgain});
      return false;
    }
    if (text_at(bytes_, r.local + kLocalBytes, name_bytes) != r.name ||
        number_at<uint16_t>(bytes_, r.local + 8) != 0 ||
        (number_at<uint16_t>(bytes_, r.local + 6) & kEncrypted))
      return fail(fmt::format("entry `{}` is described differently by its own header", r.name),
                  "pt2.archive.header");
    taken_.push_back({r.local, data + r.size});
    return keep(r.name, bytes_.subspan(data, r.size), index);
  }

  // Every name starts with one folder, called after the file as it was when saved: take it from the
  // first entry. Before torch 2.8 there was none.
  bool keep(const std::string& name, std::span<const std::byte> data, uint64_t index) {
    if (index == 0) {
      const size_t slash = name.find('/');
      if (slash == std::string::npos && !name.starts_with(kUnrooted))
        return fail("is not a torch.export archive: its entries lie in no folder",
                    "pt2.archive.root", "save the model with torch.export.save");
      root_ = slash == std::string::npos ? std::string() : name.substr(0, slash + 1);
    }
    if (name.starts_with(root_) && name.size() > root_.size() && !name.ends_with('/'))
      archive_.entries.push_back({name.substr(root_.size()), data, index, nullptr});
    return true;
  }

  bool check_overlap() {
    std::sort(taken_.begin(), taken_.end());
    for (size_t i = 1; i < taken_.size(); ++i)
      if (taken_[i][0] < taken_[i - 1][1])
        return fail("has entries that overlap", "pt2.archive.overlap");
    return true;
  }

  bool sort_by_name() {
    auto& entries = archive_.entries;
    std::sort(entries.begin(), entries.end(),
              [](const ArchiveEntry& a, const ArchiveEntry& b) { return a.name < b.name; });
    for (size_t i = 1; i < entries.size(); ++i)
      if (entries[i].name == entries[i - 1].name)
        return fail(fmt::format("has two entries named `{}`", entries[i].name),
                    "pt2.archive.duplicate");
    return true;
  }

  Archive& archive_;
  std::span<const std::byte> bytes_;
  Diagnostics& diagnostics_;
  std::string root_;
  std::vector<std::array<uint64_t, 2>> taken_;  // [local header, end of data) of every entry
};

std::shared_ptr<zip> open_directory(const Archive& archive, Diagnostics& diagnostics) {
  std::string fault;
  Zip opened = open_zip(archive.bytes, ZIP_CHECKCONS, fault);
  if (!opened)
    diagnostics.error(archive.name, "is a damaged zip archive: " + fault,
                      "pt2.archive.inconsistent", kAgain);
  return opened;
}

// Before torch 2.10 weights stand in archives of their own, which torch.save has written.
bool holds_weights(std::string_view name) {
  return name == "serialized_state_dict.pt" || name == "serialized_constants.pt" ||
         ((name.starts_with("data/weights/") || name.starts_with("data/constants/")) &&
          name.ends_with(".pt"));
}

bool open_nested(Archive& archive, Diagnostics& diagnostics) {
  std::vector<ArchiveEntry> found;
  for (const ArchiveEntry& e : archive.entries) {
    if (!holds_weights(e.name) || e.bytes.empty()) continue;
    auto nested = std::make_shared<Archive>();
    nested->name = archive.name + ": " + e.name;
    nested->bytes = e.bytes;
    nested->owner = archive.owner;
    if (!DirectoryReader(*nested, diagnostics).read()) return false;
    nested->directory = open_directory(*nested, diagnostics);
    if (!nested->directory) return false;
    for (const ArchiveEntry& inner : nested->entries)
      found.push_back(
          {e.name + "/" + inner.name, inner.bytes, inner.index, nested->directory.get()});
    archive.nested.push_back(std::move(nested));
  }
  archive.entries.insert(archive.entries.end(), found.begin(), found.end());
  std::sort(archive.entries.begin(), archive.entries.end(),
            [](const ArchiveEntry& a, const ArchiveEntry& b) { return a.name < b.name; });
  return true;
}

}  // namespace

std::shared_ptr<const Archive> open_archive(std::span<const std::byte> bytes,
                                            std::shared_ptr<const void> owner, std::string name,
                                            Diagnostics& diagnostics) {
  auto archive = std::make_shared<Archive>();
  archive->name = std::move(name);
  archive->bytes = bytes;
  archive->owner = std::move(owner);
  if (!DirectoryReader(*archive, diagnostics).read()) return nullptr;
  archive->directory = open_directory(*archive, diagnostics);
  return archive->directory && open_nested(*archive, diagnostics) ? archive : nullptr;
}

std::shared_ptr<const Archive> open_archive(const std::string& path, Diagnostics& diagnostics) {
  MappedFile file = map_file(path, diagnostics);
  if (!file.owner) return nullptr;
  return open_archive(file.bytes, std::move(file.owner), path, diagnostics);
}

const ArchiveEntry* find_entry(const Archive& archive, std::string_view name) {
  const auto it =
      std::lower_bound(archive.entries.begin(), archive.entries.end(), name,
                       [](const ArchiveEntry& e, std::string_view n) { return e.name < n; });
  return it != archive.entries.end() && it->name == name ? &*it : nullptr;
}

bool is_intact(const Archive& archive, const ArchiveEntry& entry) {
  zip_stat_t info;
  zip_t* directory = entry.directory ? entry.directory : archive.directory.get();
  if (!directory) return true;  // it comes from no file
  if (zip_stat_index(directory, entry.index, 0, &info) != 0 || !(info.valid & ZIP_STAT_SIZE) ||
      info.size != entry.bytes.size())
    return false;
  zip_file_t* file = zip_fopen_index(directory, entry.index, 0);
  if (!file) return false;
  // libzip compares the checksum when it meets the end of the entry.
  std::array<char, 32768> block;
  uint64_t total = 0;
  zip_int64_t count;
  while ((count = zip_fread(file, block.data(), block.size())) > 0)
    total += static_cast<uint64_t>(count);
  zip_fclose(file);
  return count == 0 && total == entry.bytes.size();
}

}  // namespace deuteron::pt2

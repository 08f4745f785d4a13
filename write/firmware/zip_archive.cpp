// SPDX-License-Identifier: Apache-2.0
// Source: PKWARE's .ZIP File Format Specification (APPNOTE.TXT), 4.3.7, 4.3.12, 4.3.16.
#include "write/firmware/zip_archive.h"

#include <array>
#include <cstdint>
#include <initializer_list>

namespace deuteron {
namespace {

constexpr size_t kMostFiles = 65534,
                 // the numbers above mean a field that only larger archives have
    kMostBytes = 0xfffffffe;
constexpr size_t kLocalBytes = 30, kEntryBytes = 46, kEndBytes = 22;
constexpr uint32_t kVersion = 20;  // 2.0: folders
// 1980-01-01, the first day that there is; years, months, days
constexpr uint32_t kDate = 0 << 9 | 1 << 5 | 1;
constexpr uint32_t kUnix = 3 << 8;            // whose rights stand in an entry's attributes
constexpr uint32_t kRights = 0100644u << 16;  // a file that all read and its owner writes

constexpr std::array<uint32_t, 256> kCrcTable = [] {
  std::array<uint32_t, 256> table{};
  for (uint32_t i = 0; i < 256; ++i) {
    table[i] = i;
    for (int bit = 0; bit < 8; ++bit)
      table[i] = table[i] >> 1 ^ ((table[i] & 1) != 0 ? 0xedb88320u : 0u);
  }
  return table;
}();

uint32_t crc_of(const std::string& bytes) {
  uint32_t crc = 0xffffffff;
  for (const char c : bytes) crc = crc >> 8 ^ kCrcTable[(crc ^ static_cast<uint8_t>(c)) & 255];
  return ~crc;
}

// Little-endian numbers of two bytes or four.
void put(std::string& out, size_t bytes, std::initializer_list<uint32_t> numbers) {
  for (const uint32_t n : numbers)
    for (size_t i = 0; i < bytes; ++i) out += static_cast<char>(n >> 8 * i & 255);
}

// What an entry says in both places: version, flags, method, time, date, checksum, sizes, length of
// the name.
void put_facts(std::string& out, const std::string& name, const std::string& content,
               uint32_t crc) {
  const auto bytes = static_cast<uint32_t>(content.size());
  put(out, 2, {kVersion, 0, 0, 0, kDate});
  put(out, 4, {crc, bytes, bytes});
  put(out, 2, {static_cast<uint32_t>(name.size()), 0});  // no more fields
}

}  // namespace

std::optional<std::string> zip_archive(const std::map<std::string, std::string>& files) {
  size_t bytes = kEndBytes;
  for (const auto& [name, content] : files)
    bytes += kLocalBytes + kEntryBytes + 2 * name.size() + content.size();
  if (files.size() > kMostFiles || bytes > kMostBytes) return std::nullopt;
  std::string out, directory;
  out.reserve(bytes);
  for (const auto& [name, content] : files) {
    const uint32_t crc = crc_of(content), at = static_cast<uint32_t>(out.size());
    put(out, 4, {0x04034b50});
    put_facts(out, name, content, crc);
    out += name + content;
    put(directory, 4, {0x02014b50});
    put(directory, 2, {kUnix | kVersion});
    put_facts(directory, name, content, crc);
    put(directory, 2, {0, 0, 0});  // no comment; the first disk; bytes, not text
    put(directory, 4, {kRights, at});
    directory += name;
  }
  const auto count = static_cast<uint32_t>(files.size()), begin = static_cast<uint32_t>(out.size());
  out += directory;
  put(out, 4, {0x06054b50});
  put(out, 2, {0, 0, count, count});
  put(out, 4, {static_cast<uint32_t>(directory.size()), begin});
  put(out, 2, {0});
  return out;
}

}  // namespace deuteron

// SPDX-License-Identifier: Apache-2.0
// See symbols.h. The image is our own, but every offset is checked all the same. Source: the ELF
// specification, 32-bit little-endian.
#include "boards/symbols.h"

#include <cxxabi.h>
#include <elf.h>
#include <fmt/format.h>

#include <cstdlib>
#include <cstring>

namespace deuteron {
namespace {

template <class T>
bool read_at(std::span<const uint8_t> elf, uint64_t offset, T* value) {
  if (offset > elf.size() || elf.size() - offset < sizeof(T)) return false;
  std::memcpy(value, elf.data() + offset, sizeof(T));
  return true;
}

std::string text_at(std::span<const uint8_t> elf, uint64_t offset) {
  std::string s;
  while (offset < elf.size() && elf[offset]) s += static_cast<char>(elf[offset++]);
  return s;
}

}  // namespace

std::string demangle(const std::string& name) {
  int status = 0;
  char* plain = abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status);
  std::string result = status == 0 && plain ? plain : name;
  std::free(plain);
  return result;
}

std::string function_at(std::span<const uint8_t> elf, uint32_t address) {
  Elf32_Ehdr header;
  if (!read_at(elf, 0, &header) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) return {};
  for (uint32_t i = 0; i < header.e_shnum; i++) {
    Elf32_Shdr table, names;
    if (!read_at(elf, header.e_shoff + uint64_t{i} * sizeof table, &table) ||
        table.sh_type != SHT_SYMTAB)
      continue;
    if (!read_at(elf, header.e_shoff + uint64_t{table.sh_link} * sizeof names, &names)) continue;
    for (uint32_t at = 0; at + sizeof(Elf32_Sym) <= table.sh_size; at += sizeof(Elf32_Sym)) {
      Elf32_Sym symbol;
      if (!read_at(elf, uint64_t{table.sh_offset} + at, &symbol)) break;
      const uint32_t from = symbol.st_value & ~1u;  // bit 0: Thumb
      if (ELF32_ST_TYPE(symbol.st_info) != STT_FUNC || address < from ||
          address >= from + symbol.st_size)
        continue;
      return fmt::format("{}+{:#x}",
                         demangle(text_at(elf, uint64_t{names.sh_offset} + symbol.st_name)),
                         address - from);
    }
  }
  return {};
}

}  // namespace deuteron

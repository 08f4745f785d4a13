// SPDX-License-Identifier: Apache-2.0
// See place_image.h. Sources: the ELF specification, 32-bit little-endian; ELF for the Arm
// Architecture (IHI 0044), 4.6: relocations.
#include "boards/place_image.h"

#include <elf.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "boards/symbols.h"

namespace deuteron {
namespace {

constexpr uint32_t kNowhere = UINT32_MAX;
// deuteron::kAllKernels, a KernelTable (runtime/kernel.h)
constexpr const char* kTable = "_ZN8deuteron11kAllKernelsE";
// The profile's writer, deuteron::write_etdump(...): a tenth of a small image. What calls it asks
// the job first.
constexpr const char* kProfileWriter =
    "_ZN8deuteron12write_etdumpERKNS_7ProgramENS_4FileERNS_5TraceERKNS_8DumpSinkERKNS_9DumpFactsE";
constexpr uint32_t kThumbCall = 10;       // R_ARM_THM_CALL, which <elf.h> has by an older name
constexpr uint32_t kVectorsAlign = 1024;  // what a table of 240 interrupts needs

uint32_t word_at(std::span<const uint8_t> bytes, uint64_t at) {
  uint32_t v = 0;
  if (at + 4 <= bytes.size()) std::memcpy(&v, bytes.data() + at, 4);
  return v;
}
uint16_t half_at(std::span<const uint8_t> bytes, uint64_t at) {
  uint16_t v = 0;
  if (at + 2 <= bytes.size()) std::memcpy(&v, bytes.data() + at, 2);
  return v;
}

struct Section {
  std::string_view name;
  uint32_t type = 0, flags = 0, align = 1, size = 0;
  std::span<const uint8_t> bytes;  // none of .bss
  std::vector<Elf32_Rel> relocations;
  bool used = false;
  uint32_t address = kNowhere;

  bool is_code() const { return (flags & SHF_WRITE) == 0; }  // constants too
};

// Bits of the 32-bit BL and B.W, DDI 0403 A7.7.18.
int32_t branch_offset(uint16_t high, uint16_t low) {
  const uint32_t s = high >> 10 & 1, i1 = !((low >> 13 & 1) ^ s), i2 = !((low >> 11 & 1) ^ s);
  const uint32_t v = s << 24 | i1 << 23 | i2 << 22 | (high & 0x3ffu) << 12 | (low & 0x7ffu) << 1;
  return static_cast<int32_t>(v << 7) >> 7;
}
void set_branch_offset(int32_t offset, uint8_t* at) {
  uint16_t high, low;
  std::memcpy(&high, at, 2), std::memcpy(&low, at + 2, 2);
  const uint32_t v = static_cast<uint32_t>(offset), s = v >> 24 & 1, j1 = !(v >> 23 & 1) ^ s,
                 j2 = !(v >> 22 & 1) ^ s;
  high = static_cast<uint16_t>((high & 0xf800u) | s << 10 | (v >> 12 & 0x3ff));
  low = static_cast<uint16_t>((low & 0xd000u) | j1 << 13 | j2 << 11 | (v >> 1 & 0x7ff));
  std::memcpy(at, &high, 2), std::memcpy(at + 2, &low, 2);
}

class Linker {
 public:
  Linker(std::span<const uint8_t> object, std::span<const std::string> kernels)
      : elf_(object), wanted_(kernels) {}
  std::string problem;

  bool read() {
    Elf32_Ehdr h;
    if (elf_.size() < sizeof h) return fail("is no ELF file");
    std::memcpy(&h, elf_.data(), sizeof h);
    if (std::memcmp(h.e_ident, ELFMAG, SELFMAG) != 0 || h.e_type != ET_REL || h.e_machine != EM_ARM)
      return fail("is not a relocatable ELF file for Arm");
    // With more sections than a half word counts the header of section 0 has the numbers.
    std::vector<Elf32_Shdr> headers(1);
    if (!copy(h.e_shoff, headers)) return fail("has no table of sections");
    headers.resize(h.e_shnum != 0 ? h.e_shnum : headers[0].sh_size);
    if (!copy(h.e_shoff, headers)) return fail("has a cut table of sections");
    const uint32_t names = h.e_shstrndx == SHN_XINDEX ? headers[0].sh_link : h.e_shstrndx;
    if (names >= headers.size()) return fail("has no names of sections");
    sections_.resize(headers.size());
    for (size_t k = 0; k < headers.size(); k++) {
      const Elf32_Shdr& s = headers[k];
      sections_[k] = {text_at(uint64_t{headers[names].sh_offset} + s.sh_name),
                      s.sh_type,
                      s.sh_flags,
                      std::max(s.sh_addralign, 1u),
                      s.sh_size,
                      {},
                      {}};
      if (s.sh_type == SHT_NOBITS) continue;
      if (uint64_t{s.sh_offset} + s.sh_size > elf_.size()) return fail("ends within a section");
      sections_[k].bytes = elf_.subspan(s.sh_offset, s.sh_size);
    }
    for (const Elf32_Shdr& s : headers) {
      if (s.sh_type == SHT_REL && s.sh_info < sections_.size()) {
        sections_[s.sh_info].relocations.resize(s.sh_size / sizeof(Elf32_Rel));
        copy(s.sh_offset, sections_[s.sh_info].relocations);
      } else if (s.sh_type == SHT_SYMTAB && s.sh_link < headers.size()) {
        symbols_.resize(s.sh_size / sizeof(Elf32_Sym));
        copy(s.sh_offset, symbols_);
        for (const Elf32_Sym& symbol : symbols_)
          names_.push_back(text_at(uint64_t{headers[s.sh_link].sh_offset} + symbol.st_name));
      }
    }
    return true;
  }

  // Everything that the entry comes to; of the table of kernels only those that are wanted.
  bool select(bool has_profile) {
    for (Elf32_Sym& s : symbols_)
      if (!has_profile && names_[static_cast<size_t>(&s - symbols_.data())] == kProfileWriter)
        s.st_shndx = SHN_UNDEF;
    for (size_t k = 0; k < symbols_.size(); k++)
      if (ELF32_ST_BIND(symbols_[k].st_info) == STB_GLOBAL && symbols_[k].st_shndx != SHN_UNDEF)
        globals_[names_[k]] = k;
    const auto table = globals_.find(kTable);
    if (table == globals_.end()) return fail("has no table of kernels");
    const Section& t = sections_[symbols_[table->second].st_shndx];
    for (const Elf32_Rel& r : t.relocations)
      if (r.r_offset == symbols_[table->second].st_value) list_ = section_of(r);
    if (list_ == kNowhere) return fail("has an empty table of kernels");
    for (const char* root :
         {"deuteron_enter", "deuteron_host_call", "deuteron_restart", "deuteron_pool",
          "deuteron_clock_hz", "deuteron_clock_kind", "deuteron_agent"}) {
      const auto symbol = globals_.find(root);
      if (symbol == globals_.end()) return fail(fmt::format("lacks {}", root));
      use(symbols_[symbol->second].st_shndx);
    }
    for (uint32_t k = 0; k < sections_.size(); k++)
      if (sections_[k].name == ".vectors") use(k);
    while (!open_.empty()) {
      const uint32_t k = open_.back();
      open_.pop_back();
      if (k == list_) keep_kernels();
      else
        for (const Elf32_Rel& r : sections_[k].relocations) use(section_of(r));
    }
    return true;
  }

  PlacedImage place(const ImagePlace& where) {
    PlacedImage image;
    const bool together = where.code == where.data;
    uint64_t at = where.code;
    const auto put = [&](const auto& wanted) {
      for (Section& s : sections_) {
        if (!s.used || s.address != kNowhere || !wanted(s)) continue;
        const uint32_t align = s.name == ".vectors" ? kVectorsAlign : s.align;
        at = (at + align - 1) / align * align;
        s.address = static_cast<uint32_t>(at);
        at += s.size;
      }
    };
    put([](const Section& s) { return s.name == ".vectors"; });
    image.code.address = static_cast<uint32_t>(at - 64);
    put([](const Section& s) { return s.is_code(); });
    image.code_end = at = (at + 15) & ~uint64_t{15};
    if (!together) at = where.data;
    image.data.address = static_cast<uint32_t>(at);
    put([](const Section& s) { return s.type != SHT_NOBITS; });
    const uint64_t written = at = (at + 15) & ~uint64_t{15};
    put([](const Section&) { return true; });
    const uint64_t bss_end = at = (at + 15) & ~uint64_t{15};
    constexpr uint32_t kHandlerStack = 1024;
    image.data_end = bss_end + where.stack_bytes + kHandlerStack;
    const auto set = [&](const char* name, uint64_t address) {
      image.symbols[name] = static_cast<uint32_t>(address);
    };
    set("bss_begin", written), set("bss_end", bss_end), set("stack_guard", bss_end),
        set("stack_limit", bss_end);
    set("stack_top", bss_end + where.stack_bytes), set("handler_stack_top", image.data_end);
    set("deuteron_vectors", image.code.address);
    image.code.bytes.resize(image.code_end - image.code.address);
    image.data.bytes.resize(written - image.data.address);
    return image;
  }

  bool link(PlacedImage& image) {
    for (size_t k = 0; k < symbols_.size(); k++) {
      const Elf32_Sym& s = symbols_[k];
      if (s.st_shndx >= sections_.size() || sections_[s.st_shndx].address == kNowhere) continue;
      const uint32_t address = sections_[s.st_shndx].address + s.st_value;
      if (ELF32_ST_BIND(s.st_info) != STB_LOCAL) image.symbols[std::string(names_[k])] = address;
      if (ELF32_ST_TYPE(s.st_info) == STT_FUNC)
        image.functions.push_back({address & ~1u, s.st_size, std::string(names_[k])});
    }
    image.symbols.try_emplace(kProfileWriter, image.address_of("deuteron_restart"));
    for (uint32_t k = 0; k < sections_.size(); k++) {
      const Section& s = sections_[k];
      if (s.address == kNowhere || s.type == SHT_NOBITS) continue;
      PlacedImage::Piece& piece = s.is_code() ? image.code : image.data;
      uint8_t* bytes = piece.bytes.data() + (s.address - piece.address);
      std::copy(s.bytes.begin(), s.bytes.end(), bytes);
      for (const Elf32_Rel& r : s.relocations)
        if (r.r_offset + 4 > s.size ||
            !relocate(r, s.address + r.r_offset, bytes + r.r_offset, image))
          return false;
    }
    const uint32_t table = image.address_of(kTable);
    image.set_word(table + 4, kernels_);
    return true;
  }

 private:
  bool fail(std::string what) { return problem = std::move(what), false; }

  template <class T>
  bool copy(uint64_t offset, std::vector<T>& to) const {
    const uint64_t bytes = to.size() * sizeof(T);
    if (offset > elf_.size() || elf_.size() - offset < bytes) return false;
    if (bytes > 0) std::memcpy(to.data(), elf_.data() + offset, bytes);
    return true;
  }
  std::string_view text_at(uint64_t offset) const {
    if (offset >= elf_.size()) return {};
    const auto* text = reinterpret_cast<const char*>(elf_.data() + offset);
    return {text, strnlen(text, elf_.size() - offset)};
  }

  uint32_t section_of(const Elf32_Rel& r) const {
    const uint32_t k = ELF32_R_SYM(r.r_info);
    return k < symbols_.size() && symbols_[k].st_shndx < sections_.size() ? symbols_[k].st_shndx
                                                                          : uint32_t{SHN_UNDEF};
  }
  void use(uint32_t section) {
    if (section == SHN_UNDEF || section >= sections_.size() || sections_[section].used ||
        (sections_[section].flags & SHF_ALLOC) == 0)
      return;
    sections_[section].used = true;
    open_.push_back(section);
  }

  // An entry is the address of a Kernel, which begins with the address of its name.
  std::string_view name_of_kernel(const Elf32_Rel& entry) const {
    const Section& kernel = sections_[section_of(entry)];
    const uint32_t at = symbols_[ELF32_R_SYM(entry.r_info)].st_value +
                        word_at(sections_[list_].bytes, entry.r_offset);
    for (const Elf32_Rel& r : kernel.relocations) {
      if (r.r_offset != at) continue;
      const Elf32_Sym& text = symbols_[ELF32_R_SYM(r.r_info)];
      const std::span<const uint8_t> bytes = sections_[section_of(r)].bytes;
      const uint64_t from = uint64_t{text.st_value} + word_at(kernel.bytes, at);
      if (from >= bytes.size()) return {};
      const auto* name = reinterpret_cast<const char*>(bytes.data() + from);
      return {name, strnlen(name, bytes.size() - from)};
    }
    return {};
  }
  void keep_kernels() {
    Section& list = sections_[list_];
    std::vector<Elf32_Rel> kept;
    list_bytes_.assign(list.bytes.begin(), list.bytes.end());
    for (Elf32_Rel r : list.relocations) {
      if (std::ranges::find(wanted_, name_of_kernel(r)) == wanted_.end()) continue;
      use(section_of(r));
      std::copy_n(list.bytes.begin() + r.r_offset, 4,
                  list_bytes_.begin() + static_cast<std::ptrdiff_t>(4 * kept.size()));
      r.r_offset = static_cast<uint32_t>(4 * kept.size());
      kept.push_back(r);
    }
    kernels_ = static_cast<uint32_t>(kept.size());
    list.size = std::max(4 * kernels_, 4u);
    list.bytes = std::span(list_bytes_).first(list.size);
    list.relocations = std::move(kept);
  }

  // S of the specification: where a symbol is, with bit 0 of a Thumb function.
  std::optional<uint32_t> value_of(const Elf32_Rel& r, const PlacedImage& image) {
    const uint32_t k = ELF32_R_SYM(r.r_info);
    if (k >= symbols_.size()) return std::nullopt;
    const Elf32_Sym& s = symbols_[k];
    if (s.st_shndx == SHN_ABS) return s.st_value;
    if (s.st_shndx != SHN_UNDEF && s.st_shndx < sections_.size() &&
        sections_[s.st_shndx].address != kNowhere)
      return sections_[s.st_shndx].address + s.st_value;
    if (const auto given = image.symbols.find(names_[k]); given != image.symbols.end())
      return given->second;
    if (ELF32_ST_BIND(s.st_info) == STB_WEAK) return 0;
    return std::nullopt;
  }

  bool relocate(const Elf32_Rel& r, uint32_t from, uint8_t* at, const PlacedImage& image) {
    const uint32_t type = ELF32_R_TYPE(r.r_info);
    if (type == R_ARM_NONE) return true;
    const std::optional<uint32_t> value = value_of(r, image);
    if (!value)
      return fail(fmt::format("wants `{}`, which it has not", names_[ELF32_R_SYM(r.r_info)]));
    uint32_t word;
    std::memcpy(&word, at, 4);
    if (type == R_ARM_ABS32 || type == R_ARM_TARGET1) word += *value;
    else if (type == R_ARM_REL32) word += *value - from;
    else if (type == kThumbCall || type == R_ARM_THM_JUMP24) {
      const std::span<const uint8_t> instruction(at, 4);
      const int64_t offset = int64_t{*value & ~1u} +
                             branch_offset(half_at(instruction, 0), half_at(instruction, 2)) - from;
      if (offset < -(1 << 24) || offset >= 1 << 24) return fail("has a call that is too far");
      set_branch_offset(static_cast<int32_t>(offset), at);
      return true;
    } else return fail(fmt::format("has a relocation of type {}", type));
    std::memcpy(at, &word, 4);
    return true;
  }

  std::span<const uint8_t> elf_;
  std::span<const std::string> wanted_;
  std::vector<Section> sections_;
  std::vector<Elf32_Sym> symbols_;
  std::vector<std::string_view> names_;
  std::map<std::string_view, size_t> globals_;
  std::vector<uint32_t> open_;
  std::vector<uint8_t> list_bytes_;
  uint32_t list_ = kNowhere, kernels_ = 0;
};

}  // namespace

uint32_t PlacedImage::address_of(std::string_view symbol) const {
  const auto found = symbols.find(symbol);
  return found == symbols.end() ? 0 : found->second;
}

void PlacedImage::set_word(uint32_t address, uint32_t value) {
  if (address >= code.address && uint64_t{address} - code.address + 4 <= code.bytes.size())
    std::memcpy(code.bytes.data() + (address - code.address), &value, 4);
}

std::string PlacedImage::function_at(uint32_t address) const {
  for (const Function& f : functions)
    if (address >= f.address && address - f.address < f.bytes)
      return fmt::format("{}+{:#x}", demangle(f.name), address - f.address);
  return {};
}

std::optional<PlacedImage> place_image(std::span<const uint8_t> object,
                                       std::span<const std::string> kernels,
                                       const ImagePlace& place, std::string& problem) {
  Linker linker(object, kernels);
  if (linker.read() && linker.select(place.has_profile)) {
    PlacedImage image = linker.place(place);
    if (linker.link(image)) return image;
  }
  problem = linker.problem;
  return std::nullopt;
}

}  // namespace deuteron

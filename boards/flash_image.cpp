// SPDX-License-Identifier: Apache-2.0
// See flash_image.h. Source: the ELF specification, 32-bit little-endian; Armv7-M Architecture
// Reference Manual (DDI 0403), B3.2.6: AIRCR.
#include "boards/flash_image.h"

#include <elf.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "boards/cortex_m.h"
#include "boards/gdb_remote.h"
#include "boards/probed_memory.h"
#include "boards/report.h"

namespace deuteron {
namespace {

constexpr int kProgramCounter = 15;
// ldr r0, AIRCR; ldr r1, SYSRESETREQ with its key; str r1, [r0]; b .; the two words. The processor
// asks for its reset itself: some servers write no registers of devices.
constexpr uint8_t kReset[] = {0x01, 0x48, 0x02, 0x49, 0x01, 0x60, 0xfe, 0xe7,
                              0x0c, 0xed, 0x00, 0xe0, 0x04, 0x00, 0xfa, 0x05};
constexpr uint64_t kLargestGap = 128 * 1024;  // the largest block of flash that is common

constexpr const char* kIsItThisChip =
    "is the image linked for this chip, is the chip unlocked, and does the server write its flash?";
bool memory_rule(std::string_view rule) {
  return rule == "gdb.read" || rule == "gdb.write" || rule == "gdb.memory";
}

// In the stack of the image, whose top stands first in it.
void reset(GdbRemote& gdb, const ImagePiece& first) {
  uint32_t top = 0;
  if (first.bytes.size() >= sizeof top) std::memcpy(&top, first.bytes.data(), sizeof top);
  const uint32_t at = (top & ~7u) - 64;
  if (top >= 0x100 && gdb.write(at, kReset)) gdb.write_register(kProgramCounter, at);
}

}  // namespace

std::optional<std::vector<ImagePiece>> read_image(std::span<const uint8_t> elf,
                                                  std::string& problem) {
  Elf32_Ehdr header;
  if (elf.size() < sizeof header || std::memcmp(elf.data(), ELFMAG, SELFMAG) != 0)
    return problem = "is no ELF file", std::nullopt;
  std::memcpy(&header, elf.data(), sizeof header);
  if (header.e_ident[EI_CLASS] != ELFCLASS32 || header.e_machine != EM_ARM)
    return problem = "is an ELF file for another processor than a Cortex-M", std::nullopt;
  std::vector<ImagePiece> parts;
  for (uint64_t k = 0; k < header.e_phnum; k++) {
    Elf32_Phdr p;
    const uint64_t at = header.e_phoff + k * sizeof p;
    if (header.e_phentsize != sizeof p || at + sizeof p > elf.size())
      return problem = "is damaged: its program headers lie outside of it", std::nullopt;
    std::memcpy(&p, elf.data() + at, sizeof p);
    if (p.p_type != PT_LOAD || p.p_filesz == 0) continue;
    if (uint64_t{p.p_offset} + p.p_filesz > elf.size() ||
        uint64_t{p.p_paddr} + p.p_filesz > UINT64_C(0xe0000000))
      return problem = "is damaged: a segment lies outside of it, or of the memory", std::nullopt;
    const auto from = elf.begin() + p.p_offset;
    parts.push_back({p.p_paddr, {from, from + p.p_filesz}});
  }
  if (parts.empty()) return problem = "has nothing to load: is it linked?", std::nullopt;
  std::ranges::sort(parts, {}, &ImagePiece::address);
  std::vector<ImagePiece> image;
  for (ImagePiece& part : parts) {
    const uint64_t end = image.empty() ? 0 : image.back().address + image.back().bytes.size();
    if (!image.empty() && part.address < end)
      return problem = "is damaged: two segments overlap", std::nullopt;
    if (image.empty() || part.address - end > kLargestGap) {
      image.push_back(std::move(part));
      continue;
    }
    image.back().bytes.resize(part.address - image.back().address, 0xff);  // as erased
    image.back().bytes.insert(image.back().bytes.end(), part.bytes.begin(), part.bytes.end());
  }
  return image;
}

std::optional<Diagnostic> flash_image(std::string_view where, std::span<const ImagePiece> image,
                                      std::string& core) {
  GdbRemote gdb;
  ProbedMemory memory(gdb);
  bool done = gdb.connect(where.substr(4));
  if (done) gdb.command("reset halt");
  const std::optional<uint32_t> cpuid = done ? gdb.read_word(kCpuidAddress) : std::nullopt;
  const Core found = core_of({.cpuid = cpuid.value_or(0)});
  core = found.name;
  std::optional<Diagnostic> problem;
  if (cpuid && !found.is_known()) problem = unknown_core(where, *cpuid);
  done = cpuid && !problem;
  for (const ImagePiece& piece : image) done = done && memory.put(piece.address, piece.bytes, true);
  if (const std::optional<GdbLine::Error> e = gdb.take_error(); e && !problem)
    problem = board_trouble(where, e->what, e->rule, memory_rule(e->rule) ? kIsItThisChip : e->fix);
  else if (done) reset(gdb, image.front());
  if (!gdb.release() && !problem)
    problem = board_trouble(where, "the GDB server did not say that it lets the processor run",
                            "gdb.silent", "reset the board");
  return problem;
}

}  // namespace deuteron

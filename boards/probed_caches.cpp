// SPDX-License-Identifier: Apache-2.0
#include "boards/probed_caches.h"

#include <bit>
#include <optional>

namespace deuteron {
namespace {

constexpr uint32_t kCcr = 0xe000ed14, kClidr = 0xe000ed78, kCcsidr = 0xe000ed80,
                   kCsselr = 0xe000ed84, kIciallu = 0xe000ef50, kDcisw = 0xe000ef60;
constexpr uint32_t kDataOn = 1u << 16, kCodeOn = 1u << 17;

bool put(GdbRemote& gdb, uint32_t address, uint32_t v) {
  const uint8_t bytes[] = {static_cast<uint8_t>(v), static_cast<uint8_t>(v >> 8),
                           static_cast<uint8_t>(v >> 16), static_cast<uint8_t>(v >> 24)};
  return gdb.write(address, bytes);
}

bool invalidate_data(GdbRemote& gdb) {
  if (!put(gdb, kCsselr, 0)) return false;
  const std::optional<uint32_t> size = gdb.read_word(kCcsidr);
  if (!size) return false;
  const uint32_t sets = (*size >> 13 & 0x7fff) + 1, ways = (*size >> 3 & 0x3ff) + 1;
  const uint32_t line = (*size & 7) + 4;
  const int way = ways > 1 ? std::countl_zero(ways - 1) : 0;
  for (uint32_t w = 0; w < ways; w++)
    for (uint32_t s = 0; s < sets; s++)
      if (!put(gdb, kDcisw, w << way | s << line)) return false;
  return true;
}

}  // namespace

bool switch_caches_on(GdbRemote& gdb, std::string& problem) {
  const std::optional<uint32_t> levels = gdb.read_word(kClidr), before = gdb.read_word(kCcr);
  if (!levels || !before) return false;
  const uint32_t has = ((*levels & 1) != 0 ? kCodeOn : 0) | ((*levels & 6) != 0 ? kDataOn : 0);
  if (has == 0) return problem = "the core has no caches of its own", false;
  const uint32_t missing = has & ~*before;  // one that is on holds what is not in memory yet
  if ((missing & kDataOn) != 0 && !invalidate_data(gdb)) return false;
  if ((missing & kCodeOn) != 0 && !put(gdb, kIciallu, 0)) return false;
  if (missing != 0 && !put(gdb, kCcr, *before | has)) return false;
  const std::optional<uint32_t> after = gdb.read_word(kCcr);
  if (!after) return false;
  if ((*after & has) == has) return true;
  return problem = "the core's caches stay off when they are switched on", false;
}

}  // namespace deuteron

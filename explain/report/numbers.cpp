// SPDX-License-Identifier: Apache-2.0
#include "explain/report/numbers.h"

#include <fmt/format.h>

#include "targets/target.h"

namespace deuteron {

std::string grouped(i64 v) {
  const std::string digits = std::to_string(v);
  std::string text;
  for (size_t i = 0; i < digits.size(); ++i) {
    if (i > 0 && (digits.size() - i) % 3 == 0 && digits[i - 1] != '-') text += ' ';
    text += digits[i];
  }
  return text;
}

std::string wait_text(const char* what, i64 cycles, const MemoryRegion* m) {
  if (cycles == 0) return "";
  std::string states;
  if (m && m->line_bytes > 0)
    states = fmt::format(": in {}, {} wait state{} for {} bytes, {}", m->is_flash ? "flash" : "RAM",
                         m->wait_states, m->wait_states == 1 ? "" : "s", m->line_bytes,
                         m->cache_bytes > 0 ? fmt::format("cache of {}", grouped(m->cache_bytes))
                                            : std::string("no cache"));
  return fmt::format(" + waiting for {} {} (assumed{})", what, grouped(cycles), states);
}

}  // namespace deuteron

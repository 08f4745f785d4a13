// SPDX-License-Identifier: Apache-2.0
#include "runtime/ports/line.h"

#include "runtime/decimal.h"

namespace deuteron {

Line& Line::text(const char* s) {
  while (*s) put(*s++);
  return *this;
}

Line& Line::number(uint64_t v) { return text(Decimal(v).text()); }

Line& Line::hex(uint32_t v) {
  text("0x");
  for (int shift = 28; shift >= 0; shift -= 4) put("0123456789abcdef"[v >> shift & 15]);
  return *this;
}

void Line::print() {
  text_[used_] = '\n';
  text_[used_ + 1] = 0;
  write_console(text_);
}

}  // namespace deuteron

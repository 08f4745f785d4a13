// SPDX-License-Identifier: Apache-2.0
// What the runtime says, as a line on the console: the runner's and a firmware's.
#pragma once
#include "runtime/ports/line.h"
#include "runtime/status.h"

namespace deuteron {

// Where messages are left out of the image (messages.ld), `detail` is an address that nobody may
// follow: the ELF has the text there.
#ifdef DEUTERON_MESSAGES_IN_ELF
extern "C" const char messages_begin[], messages_end[];
inline void add_detail(Line& line, const char* detail) {
  if (reinterpret_cast<uintptr_t>(detail) - reinterpret_cast<uintptr_t>(messages_begin) <
      reinterpret_cast<uintptr_t>(messages_end) - reinterpret_cast<uintptr_t>(messages_begin))
    line.text("message ").hex(static_cast<uint32_t>(reinterpret_cast<uintptr_t>(detail)));
  else line.text(detail);
}
#else
inline void add_detail(Line& line, const char* detail) { line.text(detail); }
#endif

inline void print_status(const Status& s) {
  Line line("@status ");
  line.text(name_of(s.code))
      .text(" instruction ")
      .signed_number(s.instruction)
      .text(" argument ")
      .signed_number(s.argument);
  line.text(" needed ").number(s.bytes_needed);
  if (s.step)
    line.text(" step ").text(s.step).text(" error ").number(static_cast<uint32_t>(s.error));
  line.text(" op ").text(s.op ? s.op : "-").text(" detail ");
  add_detail(line, s.detail ? s.detail : "-");
  line.print();
}

}  // namespace deuteron

// What the runtime says, as a line on the console: the runner's and a firmware's.
#pragma once
#include "runtime/ports/line.h"
#include "runtime/status.h"

namespace deuteron {

inline void print_status(const Status& s) {
  Line line("@status ");
  line.text(name_of(s.code)).text(" instruction ").signed_number(s.instruction).text(" argument ").signed_number(s.argument);
  line.text(" needed ").number(s.bytes_needed);
  if (s.step) line.text(" step ").text(s.step).text(" error ").number(static_cast<uint32_t>(s.error));
  line.text(" op ").text(s.op ? s.op : "-").text(" detail ").text(s.detail ? s.detail : "-");
  line.print();
}

}  // namespace deuteron

// SPDX-License-Identifier: Apache-2.0
// Reads ETDump files: the traces of `deuteron run --profile`, `deuteron profile` and of the stock
// runtime.
#pragma once
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/diagnostic.h"
#include "base/tensor/type.h"

namespace deuteron {

using u64 = uint64_t;

struct DumpEvent {
  std::string name;  // empty for most events inside a delegate
  i64 chain = -1, instruction = -1;
  i64 delegate_id = -1;       // of an event inside a delegate: this number ...
  std::string delegate_name;  // ... or this name
  std::vector<u8> metadata;
  u64 start = 0, end = 0;  // raw ticks
  bool wrapped = false;  // a 32-bit counter passed its end inside the event: `end` is below `start`
  u64 ticks() const { return wrapped ? (u64{1} << 32) - start + end : end - start; }
  bool is_inside_delegate() const { return delegate_id >= 0 || !delegate_name.empty(); }
};

// "Default" is the loading of the program, each "Execute" one call of the method.
struct DumpRun {
  std::string name;
  std::vector<DumpEvent>
      events;  // in order of their ends: what is inside another event comes before it
};

// What a tick is. `per_second` is 0 where the file does not say.
struct DumpClock {
  std::string unit = "ticks";  // "cycles", "instructions", "ns", "ticks"
  double per_second = 0;
  bool is_own = false;  // the file says what it is; the NPU's: it is another than the CPU's
};

struct Dump {
  std::vector<DumpRun> runs;
  std::string program_id;    // empty: not said (stock files)
  DumpClock cpu, npu;        // the NPU's events may count by a clock of their own
  bool stood_still = false;  // the tracer saw that its clock did not count
  u64 dropped = 0;           // events that found the tracer's buffer full
};

// `name` is for messages. Everything in the file is checked before it is used; what is wrong is an
// error.
std::optional<Dump> read_etdump(std::span<const std::byte> bytes, const std::string& name,
                                Diagnostics& diagnostics);

bool is_etdump(std::span<const std::byte> bytes);

}  // namespace deuteron

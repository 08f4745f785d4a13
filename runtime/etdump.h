// SPDX-License-Identifier: Apache-2.0
// Writes what a Trace holds as an ETDump, the profile format of ExecuTorch, which its Inspector and
// `deuteron inspect` read. One pass, no memory of its own: the bytes go out in order, so that a
// board can send them as it writes them.
//
// Blocks ("runs" of the format): "Default" with Program::load_method; one "Execute" for each run;
// "Profile" with Profile::write, the last event of the file, which says what writing the profile
// has cost. Events of an "Execute" block:
//   native_call_<kernel>   a kernel's call: instruction id, chain 0
//   DELEGATE_CALL          a delegate's call: instruction id, chain 0
//   (no name)              a kernel inside the delegate's call: its instruction id,
//   delegate_debug_id_int 1000 + running number, metadata
//                          of one byte, the kernel's code. Times are the delegate's own ticks, from
//                          0 at the beginning of its call. The last of a call has code 0: the
//                          delegate's dump of its own profile. (From 1000: ids of equal length,
//                          which the Inspector asks for.)
//   Method::execute        all of it; chain -1, instruction -1, as all that is no instruction
// The metadata of Program::load_method are lines of text, "key value" or "key value value":
//   deuteron 1                        the format of these lines
//   program 85944171f73967e8          FNV-1a (64 bits) of the program's file: the program_id of its
//   record clock instructions 1000000000     what a tick is, ticks per second (0: not known) source
//   FPGAIO counter             the clock's name npu_hz 324000000                  ticks per second
//   of the events inside delegates, where it is known events 25                         recorded in
//   all runs dropped 0                         that did not fit the buffer stood_still 1 only when
//   the clock did while the program ran
#pragma once
#include "runtime/trace.h"

namespace deuteron {

inline constexpr int32_t kFirstDelegateId = 1000;

// Where the bytes go, in order. False: they cannot be written, and the rest is not tried.
struct DumpSink {
  bool (*write)(void* context, const void* bytes, uint32_t count) = nullptr;
  void* context = nullptr;
};

struct DumpFacts {
  uint64_t npu_hz = 0;  // 0: not known
};

// Bytes of the file.
uint64_t etdump_bytes(const Program& program, const Trace& trace, const DumpFacts& facts = {});

// `program`: loaded, the one that ran; `file`: what it was loaded from. False: the sink has failed,
// or the file would have 2 GB.
bool write_etdump(const Program& program, File file, Trace& trace, const DumpSink& sink,
                  const DumpFacts& facts = {});

}  // namespace deuteron

// SPDX-License-Identifier: Apache-2.0
// Writes ETDump files for tests, with flatbuffers' own builder: neither our tracer's writer nor the
// stock one.
#pragma once
#include <flatbuffers/flatbuffers.h>

#include <string>
#include <vector>

#include "explain/traces/etdump_generated.h"
#include "explain/traces/read_etdump.h"

namespace deuteron {

// What our tracer writes into the metadata of the method's loading: runtime/etdump.h.
inline std::string facts_text(const std::string& program, const std::string& clock,
                              const std::string& more = {}) {
  return "deuteron 1\nprogram " + program + "\nclock " + clock + "\n" + more;
}

inline DumpEvent event(const std::string& name, i64 instruction, u64 start, u64 end) {
  DumpEvent e;
  e.name = name;
  e.chain = instruction < 0 ? -1 : 0;
  e.instruction = instruction;
  e.start = start;
  e.end = end;
  return e;
}
inline DumpEvent npu_event(i64 instruction, i64 number, u8 code, u64 start, u64 end) {
  DumpEvent e = event("", instruction, start, end);
  e.delegate_id = 1000 + number;
  e.metadata = {code};
  return e;
}

inline std::vector<std::byte> dump_bytes(const std::vector<DumpRun>& runs) {
  flatbuffers::FlatBufferBuilder b;
  std::vector<flatbuffers::Offset<etdump_wire::Run>> list;
  for (const DumpRun& run : runs) {
    std::vector<flatbuffers::Offset<etdump_wire::Event>> events;
    for (const DumpEvent& e : run.events) {
      const auto name =
          e.name.empty() ? flatbuffers::Offset<flatbuffers::String>() : b.CreateString(e.name);
      const auto delegate = e.delegate_name.empty() ? flatbuffers::Offset<flatbuffers::String>()
                                                    : b.CreateString(e.delegate_name);
      const auto metadata = e.metadata.empty() ? flatbuffers::Offset<flatbuffers::Vector<uint8_t>>()
                                               : b.CreateVector(e.metadata);
      const auto profile = etdump_wire::CreateProfileEvent(
          b, name, static_cast<int32_t>(e.chain), static_cast<int32_t>(e.instruction),
          static_cast<int32_t>(e.delegate_id), delegate, metadata, e.start, e.end);
      events.push_back(etdump_wire::CreateEvent(b, profile));
    }
    const auto name = b.CreateString(run.name);
    list.push_back(etdump_wire::CreateRun(b, name, -1, 0, b.CreateVector(events)));
  }
  b.FinishSizePrefixed(etdump_wire::CreateDump(b, 0, b.CreateVector(list)), "ED00");
  const auto* data = reinterpret_cast<const std::byte*>(b.GetBufferPointer());
  return {data, data + b.GetSize()};
}

// The run "Default" with those facts.
inline DumpRun default_run(const std::string& facts) {
  DumpEvent load = event("Program::load_method", -1, 5, 105);
  load.metadata.assign(facts.begin(), facts.end());
  return {"Default", {load}};
}

}  // namespace deuteron

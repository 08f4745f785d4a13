// SPDX-License-Identifier: Apache-2.0
#include "cli/profile_run.h"

#include <algorithm>
#include <chrono>

#include "base/check.h"
#include "npu/neutron/delegate/profile.h"
#include "npu/neutron/machine/microcode.h"
#include "runtime/etdump.h"

namespace deuteron {
namespace {

uint64_t nanoseconds() {
  return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(
                                   std::chrono::steady_clock::now().time_since_epoch())
                                   .count());
}

constexpr uint64_t kMostEvents = uint64_t{1} << 24;  // 512 MB of them

bool append(void* bytes, const void* more, uint32_t count) {
  auto& all = *static_cast<std::vector<uint8_t>*>(bytes);
  const auto* from = static_cast<const uint8_t*>(more);
  all.insert(all.end(), from, from + count);
  return true;
}

}  // namespace

bool HostProfile::begin(const std::string& path, Diagnostics& diagnostics) {
  trace = Trace(Clock{nanoseconds, 64, 1000000000, "ns", "steady_clock"});
  trace.delegate_events = neutron_events;
  const Status s = trace.start();
  if (!s.ok()) diagnostics.error(path, s.detail, "profile.clock");
  return s.ok();
}

void HostProfile::make_room(const Program& program, int64_t samples) {
  const uint64_t all =
      std::min(events_of_run(program) * static_cast<uint64_t>(samples), kMostEvents);
  buffer_.resize(most_events > 0 ? std::min<uint64_t>(most_events, all) : all);
  trace.use({buffer_.data(), static_cast<uint32_t>(buffer_.size())});
}

void HostProfile::end(const Program& program, File file) {
  DumpFacts facts;
  facts.npu_hz = neutron_clock_hz(program);
  dump.reserve(etdump_bytes(program, trace, facts));
  const bool written = write_etdump(program, file, trace, {append, &dump}, facts);
  DEUTERON_CHECK(written, "the dump is too large for its format");
  events = trace.count();
  dropped = trace.dropped();
  hides_kernels = hides_npu_kernels(program);
}

uint64_t events_of_run(const Program& program) {
  uint64_t events = 1 + static_cast<uint64_t>(program.instruction_count());
  for (int32_t k = 0; k < program.instruction_count(); ++k)
    if (const PreparedDelegate* d = program.delegate(k))
      events += neutron_payload(*d).profile_bytes / neutron::kProfileRecordBytes;
  return events;
}

bool hides_npu_kernels(const Program& program) {
  for (int32_t k = 0; k < program.instruction_count(); ++k)
    if (const PreparedDelegate* d = program.delegate(k))
      if (const NeutronPayload p = neutron_payload(*d); p.outputs > 0 && p.profile_bytes == 0)
        return true;
  return false;
}

}  // namespace deuteron

// SPDX-License-Identifier: Apache-2.0
// Records of 16 bytes: the event when a piece of work began and the one when it stopped, each event
// code, op code, function code, timestamp code (a byte each) and 32 bits of time. Only work whose
// stop has the op code of a kernel's call is a kernel; what lies between two kernels (prefetches)
// is charged to the later one, as the stock delegate does. The last record is the dump of the
// profile itself.
#include "npu/neutron/delegate/profile.h"

#include "npu/neutron/machine/microcode.h"

namespace deuteron {
namespace {

constexpr uint8_t kCallArgs = 6;
constexpr uint32_t kRecordBytes = neutron::kProfileRecordBytes, kHalf = kRecordBytes / 2;

uint32_t time_at(const uint8_t* event) {
  uint32_t t;
  __builtin_memcpy(&t, event + 4, 4);
  return t;
}

}  // namespace

bool neutron_events(const PreparedDelegate& delegate, uint32_t index, DelegateEvent* event) {
  const NeutronBuffers b = neutron_buffers(delegate);
  const uint32_t records = b.profile_bytes / kRecordBytes;
  if (!b.profile || records == 0) return false;
  // Time has 32 bits and may go round within a run: every stamp is widened by its distance from the
  // one before.
  uint64_t now = time_at(b.profile);
  uint32_t last = static_cast<uint32_t>(now);
  const auto widen = [&](const uint8_t* at) {
    const uint32_t t = time_at(at);
    now += static_cast<uint32_t>(t - last);
    last = t;
    return now;
  };
  uint32_t kernels = 0;
  uint64_t begin = 0;
  bool is_open = false;
  for (uint32_t r = 0; r < records; ++r) {
    const uint8_t *start = b.profile + r * kRecordBytes, *stop = start + kHalf;
    const uint64_t from = widen(start), to = widen(stop);
    if (!is_open) begin = from;
    is_open = true;
    const bool is_last = r + 1 == records;
    if (stop[1] != kCallArgs && !is_last) continue;
    if (kernels++ == index) {
      *event = {is_last ? from : begin, to, is_last ? uint8_t{0} : start[2]};
      return true;
    }
    is_open = false;
  }
  return false;
}

uint64_t neutron_clock_hz(const PreparedDelegate& delegate) {
  const NeutronPayload p = neutron_payload(delegate);
  if (!p.is_open_model) return 0;
  uint32_t at;
  __builtin_memcpy(&at, p.microcode + 4 * neutron::kMachineOffsetWord, 4);
  neutron::Machine machine;
  if (at > p.microcode_bytes || sizeof machine > p.microcode_bytes - at) return 0;
  __builtin_memcpy(&machine, p.microcode + at, sizeof machine);
  return machine.clock_hz > 0 ? static_cast<uint64_t>(machine.clock_hz) : 0;
}

uint64_t neutron_clock_hz(const Program& program) {
  for (int32_t k = 0; k < program.instruction_count(); ++k)
    if (const PreparedDelegate* d = program.delegate(k))
      if (const uint64_t hz = neutron_clock_hz(*d)) return hz;
  return 0;
}

}  // namespace deuteron

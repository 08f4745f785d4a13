// SPDX-License-Identifier: Apache-2.0
// Profile records of Neutron delegates, of the open model and as the vendor's driver leaves them,
// as events of a trace.
#include "npu/neutron/delegate/profile.h"

#include <gtest/gtest.h>

#include "npu/neutron/delegate/calls.h"
#include "npu/neutron/delegate/test_network.h"
#include "npu/neutron/machine/cycles.h"
#include "npu/neutron/machine/test_machine.h"

namespace deuteron {
namespace {
using namespace test;

uint64_t g_now = 0;
uint64_t read_clock() { return ++g_now; }

struct Record {
  uint8_t op, function;
  uint32_t start, stop;
};

// What the driver would have written.
void put(const PreparedDelegate& delegate, const std::vector<Record>& records) {
  const NeutronBuffers buffers = neutron_buffers(delegate);
  ASSERT_EQ(buffers.profile_bytes, 16 * records.size());
  auto* to = const_cast<uint8_t*>(buffers.profile);
  for (const Record& r : records) {
    const uint8_t codes[4] = {0, r.op, r.function, 0};
    std::memcpy(to, codes, 4), std::memcpy(to + 4, &r.start, 4);
    std::memcpy(to + 8, codes, 4), std::memcpy(to + 12, &r.stop, 4);
    to += 16;
  }
}

std::vector<DelegateEvent> events_of(const PreparedDelegate& delegate) {
  std::vector<DelegateEvent> events;
  for (DelegateEvent e; neutron_events(delegate, static_cast<uint32_t>(events.size()), &e);)
    events.push_back(e);
  return events;
}

// A network that has run once under the tracer.
struct Traced {
  explicit Traced(NeutronNetwork& n) : loaded(n.p.bytes(), kAllKernels) {
    trace.delegate_events = neutron_events;
    ran = loaded.status.ok() && trace.start().ok() && run_traced(loaded.program, &trace).ok();
  }
  Loaded loaded;
  TraceEvent buffer[16];
  Trace trace{Clock{read_clock, 64, 1, "ticks", "TEST"}, {buffer, 16}};
  bool ran = false;
};

TEST(NeutronEvents, OfTheOpenModelAreItsCyclesInOrder) {
  ASSERT_TRUE(start_backends(kAllKernels).ok());
  NeutronNetwork n(true);
  Traced t(n);
  ASSERT_TRUE(t.ran);
  ASSERT_EQ(t.trace.count(), 7u) << "the call, four kernels, the dump, the run";
  EXPECT_EQ(t.buffer[0].kind, TraceKind::delegate);
  NeutronCalls calls(neutron_payload(*t.loaded.program.delegate(0)));
  uint64_t now = 0;
  const uint8_t codes[] = {32, 25, 27, 18};  // MemCpy, Table, Slice, Add
  for (int k = 0; k < 4; ++k) {
    NeutronKernelCall call;
    ASSERT_TRUE(calls.next(&call));
    const TraceEvent& e = t.buffer[1 + k];
    EXPECT_EQ(e.kind, TraceKind::delegate_kernel);
    EXPECT_EQ(e.number, k);
    EXPECT_EQ(e.code, codes[k]);
    EXPECT_EQ(e.instruction, 0);
    EXPECT_EQ(e.start, now);
    now += static_cast<uint64_t>(
        neutron::cost_of(neutron::n3_64(), call.kind, call.structure).total());
    EXPECT_EQ(e.end, now);
  }
  EXPECT_EQ(t.buffer[5].code, 0);
  EXPECT_EQ(t.buffer[5].number, 4);
  EXPECT_EQ(t.buffer[6].kind, TraceKind::run);
  EXPECT_EQ(neutron_clock_hz(t.loaded.program), 324000000u);
  stop_backends(kAllKernels);
}

// The second call's own event is no kernel's, whatever the first one's kernels were.
TEST(NeutronEvents, BelongToTheirDelegate) {
  ASSERT_TRUE(start_backends(kAllKernels).ok());
  NeutronNetwork n(true);
  n.p.call_delegate(0, {n.c, n.scratch, n.x, n.y, n.z});
  Traced t(n);
  ASSERT_TRUE(t.ran);
  ASSERT_EQ(t.trace.count(), 13u) << "twice the call, four kernels and the dump; the run";
  for (int k = 0; k < 2; ++k) {
    EXPECT_EQ(t.buffer[6 * k].kind, TraceKind::delegate);
    EXPECT_EQ(t.buffer[6 * k].instruction, k);
    EXPECT_EQ(t.buffer[6 * k].number, -1);
    EXPECT_EQ(t.buffer[6 * k + 5].number, 4);
  }
  stop_backends(kAllKernels);
}

TEST(NeutronEvents, WithoutAProfileThereAreNone) {
  ASSERT_TRUE(start_backends(kAllKernels).ok());
  NeutronNetwork n(true, 0);
  Loaded l(n.p.bytes(), kAllKernels);
  ASSERT_TRUE(l.status.ok() && l.program.run().ok());
  EXPECT_TRUE(events_of(*l.program.delegate(0)).empty());
  stop_backends(kAllKernels);
}

// Work that is no kernel (a prefetch) is charged to the kernel behind it; time goes round after 32
// bits.
TEST(NeutronEvents, OtherWorkIsTheNextKernelsAndTimeGoesRound) {
  ASSERT_TRUE(start_backends(kAllKernels).ok());
  NeutronNetwork n(false);
  Loaded l(n.p.bytes(), kAllKernels);
  ASSERT_TRUE(l.status.ok() && l.program.run().ok());
  const PreparedDelegate& d = *l.program.delegate(0);
  put(d, {{6, 1, 0xffffff00, 0xffffff80},
          {3, 9, 0xffffff90, 0xfffffff0},
          {6, 2, 0xfffffff8, 0x20},
          {6, 3, 0x30, 0x50},
          {0, 0, 0x60, 0x99}});
  const std::vector<DelegateEvent> events = events_of(d);
  ASSERT_EQ(events.size(), 4u);
  const uint64_t round = uint64_t{1} << 32;
  const std::tuple<uint64_t, uint64_t, uint8_t> expected[] = {{0xffffff00, 0xffffff80, 1},
                                                              {0xffffff90, round + 0x20, 2},
                                                              {round + 0x30, round + 0x50, 3},
                                                              {round + 0x60, round + 0x99, 0}};
  for (size_t k = 0; k < 4; ++k)
    EXPECT_EQ(std::tuple(events[k].start, events[k].end, events[k].code), expected[k]) << k;
  stop_backends(kAllKernels);
}

}  // namespace
}  // namespace deuteron

// SPDX-License-Identifier: Apache-2.0
// The tracer: clocks that go round, stand still or go back; full buffers; the same outputs; and the
// dump, read by another reader.
#include "runtime/trace.h"

#include <gtest/gtest.h>

#include "explain/traces/read_etdump.h"
#include "runtime/etdump.h"
#include "runtime/test_kernels.h"
#include "runtime/test_program.h"

namespace deuteron {
namespace {
using namespace test;

// A clock that the test moves: every read takes `step` ticks; `bits` of the time are seen.
uint64_t g_time = 0, g_step = 0, g_mask = 0;
uint64_t read_clock() {
  g_time += g_step;
  return g_time & g_mask;
}
Clock clock_of(uint8_t bits, uint64_t start, uint64_t step) {
  g_time = start;
  g_step = step;
  g_mask = bits >= 64 ? ~uint64_t{0} : (uint64_t{1} << bits) - 1;
  return {read_clock, bits, 1000, "cycles", "TEST"};
}

std::vector<uint8_t> dump_of(const Program& program, File file, Trace& trace,
                             const DumpFacts& facts = {}) {
  std::vector<uint8_t> bytes;
  const auto append = [](void* to, const void* from, uint32_t count) {
    auto& all = *static_cast<std::vector<uint8_t>*>(to);
    all.insert(all.end(), static_cast<const uint8_t*>(from),
               static_cast<const uint8_t*>(from) + count);
    return true;
  };
  const uint64_t promised = etdump_bytes(program, trace, facts);
  EXPECT_TRUE(write_etdump(program, file, trace, {append, &bytes}, facts));
  EXPECT_EQ(bytes.size(), promised);
  return bytes;
}

Dump read(const std::vector<uint8_t>& bytes) {
  Diagnostics diagnostics;
  std::optional<Dump> dump = read_etdump(std::as_bytes(std::span(bytes)), "test", diagnostics);
  for (const Diagnostic& d : diagnostics.list())
    EXPECT_EQ(d.severity, Severity::warning) << format_diagnostic(d);
  return dump ? std::move(*dump) : Dump{};
}

TEST(Trace, AClockOfAnyWidthGoesRound) {
  for (const uint8_t bits : std::initializer_list<uint8_t>{8, 16, 24, 32, 63, 64}) {
    const uint64_t almost = bits == 64 ? 1000 : (uint64_t{1} << bits) - 40;
    Trace trace(clock_of(bits, almost, 7));
    ASSERT_TRUE(trace.start().ok()) << int{bits};
    uint64_t last = trace.now();
    for (int i = 0; i < 300; ++i) {
      const uint64_t now = trace.now();
      ASSERT_EQ(now, last + 7) << int{bits} << " bits, read " << i;
      last = now;
    }
  }
}

TEST(Trace, AClockThatStandsStillIsRefusedByName) {
  Trace trace(clock_of(32, 5, 0));
  const Status s = trace.start();
  EXPECT_EQ(s.code, Code::bad_input);
  EXPECT_STREQ(s.op, "TEST");
  EXPECT_NE(std::string(s.detail).find("stands still"), std::string::npos);
  EXPECT_FALSE(Trace().start().ok()) << "no clock at all";
}

TEST(Trace, AClockThatGoesBackDoesNotTakeEventsWithIt) {
  Trace trace(clock_of(64, 1000, 1));
  ASSERT_TRUE(trace.start().ok());
  const uint64_t before = trace.now();
  g_time = 10;
  EXPECT_EQ(trace.now(), before);
}

TEST(Trace, OutputsAreTheSameAndEveryCallHasItsEvent) {
  Loaded plain(two_calls().bytes(), kTestKernels), traced(two_calls().bytes(), kTestKernels);
  ASSERT_TRUE(plain.status.ok() && traced.status.ok());
  TraceEvent events[7];
  Trace trace(clock_of(24, 0xfffff0, 3), {events, 7});
  ASSERT_TRUE(trace.start().ok());
  for (uint8_t round = 0; round < 2; ++round) {
    uint8_t a[30], b[30];
    for (uint8_t i = 0; i < 30; ++i)
      a[i] = static_cast<uint8_t>(7 * i + round), b[i] = static_cast<uint8_t>(11 * i);
    for (Loaded* l : {&plain, &traced})
      ASSERT_TRUE(l->program.set_input(0, a, 30).ok() && l->program.set_input(1, b, 30).ok());
    ASSERT_TRUE(plain.program.run().ok());
    ASSERT_TRUE(run_traced(traced.program, &trace).ok());
    EXPECT_EQ(std::memcmp(plain.program.output(0).data, traced.program.output(0).data, 30), 0);
  }
  EXPECT_EQ(trace.count(), 6u);
  EXPECT_EQ(trace.dropped(), 0u);
  for (uint32_t run = 0; run < 2; ++run) {
    const TraceEvent *add = events + 3 * run, *reverse = add + 1, *all = add + 2;
    EXPECT_EQ(add->run, run + 1);
    EXPECT_EQ(add->instruction, 0);
    EXPECT_EQ(add->kind, TraceKind::kernel);
    EXPECT_EQ(add->end - add->start, 3u);
    EXPECT_EQ(reverse->instruction, 1);
    EXPECT_GE(reverse->start, add->end);
    EXPECT_EQ(all->kind, TraceKind::run);
    EXPECT_LT(all->start, add->start);
    EXPECT_GT(all->end, reverse->end);
  }
  EXPECT_TRUE(run_traced(traced.program, nullptr).ok());
  EXPECT_EQ(trace.count(), 6u);
}

TEST(EtDump, SaysWhatTheTraceHas) {
  Loaded l(two_calls().bytes(), kTestKernels);
  ASSERT_TRUE(l.status.ok());
  TraceEvent events[6];
  Trace trace(clock_of(32, 0xffffff00, 5), {events, 6});
  ASSERT_TRUE(trace.start().ok());
  ASSERT_TRUE(load_traced(l.program, l.file.file(), kTestKernels, l.tables.memory(),
                          l.planned.memory(), trace)
                  .ok());
  ASSERT_TRUE(run_traced(l.program, &trace).ok());
  ASSERT_TRUE(run_traced(l.program, &trace).ok());
  const Dump dump = read(dump_of(l.program, l.file.file(), trace, {324000000}));
  ASSERT_EQ(dump.runs.size(), 4u);
  EXPECT_EQ(dump.runs[0].name, "Default");
  EXPECT_EQ(dump.runs[0].events.back().name, "Program::load_method");
  EXPECT_EQ(dump.runs[0].events.back().ticks(), 5u);
  EXPECT_EQ(dump.runs[3].name, "Profile");
  ASSERT_EQ(dump.runs[3].events.size(), 1u);
  EXPECT_EQ(dump.runs[3].events[0].name, "Profile::write");
  EXPECT_EQ(dump.runs[3].events[0].ticks(), 5u) << "the clock is read twice";
  for (const int run : {1, 2}) {
    EXPECT_EQ(dump.runs[run].name, "Execute");
    ASSERT_EQ(dump.runs[run].events.size(), 3u);
    EXPECT_EQ(dump.runs[run].events[0].name, "native_call_test::add.out");
    EXPECT_EQ(dump.runs[run].events[0].instruction, 0);
    EXPECT_EQ(dump.runs[run].events[0].chain, 0);
    EXPECT_EQ(dump.runs[run].events[1].name, "native_call_test::reverse.out");
    EXPECT_EQ(dump.runs[run].events[1].instruction, 1);
    EXPECT_EQ(dump.runs[run].events[2].name, "Method::execute");
    EXPECT_EQ(dump.runs[run].events[2].instruction, -1);
    EXPECT_EQ(dump.runs[run].events[2].start, events[3 * (run - 1) + 2].start);
  }
  EXPECT_EQ(dump.program_id.size(), 16u);
  EXPECT_EQ(dump.cpu.unit, "cycles");
  EXPECT_EQ(dump.cpu.per_second, 1000);
  EXPECT_EQ(dump.npu.per_second, 324e6);
  EXPECT_EQ(dump.dropped, 0u);
  EXPECT_FALSE(dump.stood_still);
}

TEST(EtDump, AFullBufferKeepsTheOldestAndSaysHowManyAreMissing) {
  for (uint32_t room = 0; room <= 7; ++room) {
    Loaded l(two_calls().bytes(), kTestKernels);
    ASSERT_TRUE(l.status.ok());
    TraceEvent events[8];
    Trace trace(clock_of(64, 0, 5), {events, room});
    ASSERT_TRUE(trace.start().ok());
    ASSERT_TRUE(run_traced(l.program, &trace).ok());
    ASSERT_TRUE(run_traced(l.program, &trace).ok());
    const Dump dump = read(dump_of(l.program, l.file.file(), trace));
    EXPECT_EQ(dump.dropped, room < 6 ? 6 - room : 0);
    size_t kept = 0;  // a block that has lost all its events is no block to the reader
    for (const DumpRun& run : dump.runs) kept += run.name == "Execute" ? run.events.size() : 0;
    EXPECT_EQ(kept, std::min(room, 6u));
    if (room == 4) { EXPECT_EQ(dump.runs[2].events[0].name, "native_call_test::add.out"); }
  }
}

TEST(EtDump, AClockThatStopsIsTold) {
  Loaded l(two_calls().bytes(), kTestKernels);
  TraceEvent events[8];
  Trace trace(clock_of(64, 0, 5), {events, 8});
  ASSERT_TRUE(trace.start().ok());
  g_step = 0;
  ASSERT_TRUE(run_traced(l.program, &trace).ok());
  EXPECT_TRUE(read(dump_of(l.program, l.file.file(), trace)).stood_still);
}

TEST(EtDump, ASinkThatFailsIsNotAskedAgain) {
  Loaded l(two_calls().bytes(), kTestKernels);
  TraceEvent events[8];
  Trace trace(clock_of(64, 0, 5), {events, 8});
  ASSERT_TRUE(trace.start().ok());
  ASSERT_TRUE(run_traced(l.program, &trace).ok());
  struct Sink {
    int asked = 0, good;
  };
  for (int good = 0; good < 3; ++good) {
    Sink sink{0, good};
    const auto fail = [](void* s, const void*, uint32_t) {
      auto& self = *static_cast<Sink*>(s);
      return ++self.asked <= self.good;
    };
    EXPECT_FALSE(write_etdump(l.program, l.file.file(), trace, {fail, &sink}));
    EXPECT_EQ(sink.asked, good + 1);
  }
}

TEST(EtDump, NothingRunsBeforeAProgramIsLoaded) {
  Program empty;
  Trace trace(clock_of(64, 0, 5));
  ASSERT_TRUE(trace.start().ok());
  EXPECT_EQ(run_traced(empty, &trace).code, Code::bad_input) << "nothing is loaded";
}

}  // namespace
}  // namespace deuteron

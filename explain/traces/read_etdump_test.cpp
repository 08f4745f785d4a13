// SPDX-License-Identifier: Apache-2.0
#include "explain/traces/read_etdump.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "base/files/read_file.h"
#include "base/test_diagnostics.h"
#include "explain/traces/test_dump.h"
#include "tests/paths.h"

namespace deuteron {
namespace {

using testing::HasSubstr;

std::vector<std::byte> small_dump(const std::string& more = "") {
  return dump_bytes({default_run(facts_text("00000000000000aa", "cycles 1000000", more)),
                     {"Execute",
                      {event("native_call_cortex_m::quantized_add.out", 0, 100, 400),
                       event("native_call_aten::relu.out", 1, 400, 450),
                       event("Method::execute", -1, 90, 460)}}});
}

TEST(Etdump, ReadsEventsAndFacts) {
  Diagnostics d;
  const auto dump =
      read_etdump(small_dump("npu_hz 324000000\ndropped 7\nunknown key 3\n"), "x.etdp", d);
  ASSERT_TRUE(dump) << said(d);
  ASSERT_EQ(dump->runs.size(), 2u);
  EXPECT_EQ(dump->program_id, "00000000000000aa");
  EXPECT_EQ(dump->cpu.unit, "cycles");
  EXPECT_EQ(dump->cpu.per_second, 1e6);
  EXPECT_EQ(dump->npu.per_second, 324e6);
  EXPECT_TRUE(dump->npu.is_own);
  EXPECT_EQ(dump->dropped, 7u);
  const DumpEvent& e = dump->runs[1].events[0];
  EXPECT_EQ(e.name, "native_call_cortex_m::quantized_add.out");
  EXPECT_EQ(e.instruction, 0);
  EXPECT_EQ(e.ticks(), 300u);
  EXPECT_THAT(said(d), HasSubstr("7 events did not fit into the tracer's buffer"));
}

TEST(Etdump, ReadsWhatTheStockRuntimeWrites) {
  Diagnostics d;
  const std::string path = source_path("tests/traces/stock.etdp");
  const auto bytes = read_file(path, d);
  ASSERT_TRUE(bytes);
  const auto dump = read_etdump(*bytes, path, d);
  ASSERT_TRUE(dump) << said(d);
  ASSERT_EQ(dump->runs.size(), 4u);  // loading, three calls
  EXPECT_EQ(dump->program_id, "");
  EXPECT_FALSE(dump->npu.is_own);
  for (size_t r = 1; r < 4; ++r) {
    EXPECT_EQ(dump->runs[r].name, "Execute");
    EXPECT_EQ(dump->runs[r].events.back().name, "Method::execute");
    EXPECT_GT(dump->runs[r].events.back().ticks(), 0u);
  }
}

TEST(Etdump, EveryCutIsRefused) {
  const std::vector<std::byte> whole = small_dump();
  for (size_t n = 0; n < whole.size(); ++n) {
    Diagnostics d;
    EXPECT_FALSE(read_etdump({whole.data(), n}, "x.etdp", d)) << n;
    EXPECT_TRUE(d.has_errors()) << n;
  }
  Diagnostics d;
  read_etdump({whole.data(), whole.size() / 2}, "x.etdp", d);
  EXPECT_THAT(said(d), HasSubstr("is cut off"));
}

TEST(Etdump, WhatLiesBehindTheTraceIsLeftAlone) {
  std::vector<std::byte> bytes = small_dump();
  bytes.resize(bytes.size() + 4096);
  Diagnostics d;
  EXPECT_TRUE(read_etdump(bytes, "x.etdp", d)) << said(d);
}

TEST(Etdump, OtherFilesAreNoTraces) {
  std::vector<std::byte> bytes = small_dump();
  std::memcpy(bytes.data() + 8, "ET12", 4);
  Diagnostics d;
  EXPECT_FALSE(read_etdump(bytes, "x.etdp", d));
  EXPECT_THAT(said(d), HasSubstr("identifier is not ED00"));
}

// Any byte may have any value: an answer or a diagnostic, nothing else (the sanitizers watch).
TEST(Etdump, WildBytesAreHarmless) {
  const std::vector<std::byte> whole = small_dump("dropped 1\n");
  std::mt19937 random(7);
  int read = 0;
  for (int i = 0; i < 20000; ++i) {
    std::vector<std::byte> bytes = whole;
    for (int k = 1 + static_cast<int>(random() % 3); k > 0; --k) {
      const size_t at = random() % bytes.size();
      if (random() % 2) bytes[at] = static_cast<std::byte>(random());
      else if (at + 4 <= bytes.size()) {
        const uint32_t wild = random() % 2 ? ~0u - random() % 64 : random() % 2048;
        std::memcpy(bytes.data() + at, &wild, 4);
      }
    }
    Diagnostics d;
    const bool ok = read_etdump(bytes, "x.etdp", d).has_value();
    read += ok;
    EXPECT_NE(ok, d.has_errors());
  }
  EXPECT_GT(read, 100);  // a name's letter, a time
  EXPECT_LT(read, 20000);
}

TEST(Etdump, A32BitWrapIsCountedAcross) {
  Diagnostics d;
  const auto dump = read_etdump(
      dump_bytes({{"Execute", {event("native_call_a.out", 0, 0xFFFFFFF0u, 0x10)}}}), "x.etdp", d);
  ASSERT_TRUE(dump);
  EXPECT_EQ(dump->runs[0].events[0].ticks(), 0x20u);
  EXPECT_THAT(said(d), HasSubstr("wrapped inside 1 event"));
}

TEST(Etdump, A64BitClockMustNotGoBack) {
  Diagnostics d;
  EXPECT_FALSE(read_etdump(
      dump_bytes({{"Execute", {event("native_call_a.out", 0, u64{1} << 40, 16)}}}), "x.etdp", d));
  EXPECT_THAT(said(d), HasSubstr("before it starts"));
}

TEST(Etdump, AClockThatStandsStillIsSaid) {
  Diagnostics d;
  EXPECT_TRUE(read_etdump(
      dump_bytes({{"Execute",
                   {event("native_call_a.out", 0, 7, 7), event("native_call_b.out", 1, 7, 7)}}}),
      "x.etdp", d));
  EXPECT_THAT(said(d), HasSubstr("the clock stood still"));
  Diagnostics tracer;
  EXPECT_TRUE(read_etdump(small_dump("stood_still 1\n"), "x.etdp", tracer));
  EXPECT_THAT(said(tracer), HasSubstr("the clock stood still"));
}

TEST(Etdump, ATraceWithoutEventsIsRefused) {
  Diagnostics d;
  EXPECT_FALSE(read_etdump(dump_bytes({{"Execute", {}}}), "x.etdp", d));
  EXPECT_THAT(said(d), HasSubstr("has no timed events"));
}

// Many runs that share one list: the file is small, what it says is not.
TEST(Etdump, MoreEventsThanCanBeAreRefused) {
  flatbuffers::FlatBufferBuilder b;
  std::vector<flatbuffers::Offset<etdump_wire::Event>> events(
      20000, etdump_wire::CreateEvent(b, etdump_wire::CreateProfileEvent(b)));
  const auto list = b.CreateVector(events);
  const auto run = etdump_wire::CreateRun(b, b.CreateString("Execute"), -1, 0, list);
  std::vector<flatbuffers::Offset<etdump_wire::Run>> runs(20000, run);
  b.FinishSizePrefixed(etdump_wire::CreateDump(b, 0, b.CreateVector(runs)), "ED00");
  Diagnostics d;
  const auto* data = reinterpret_cast<const std::byte*>(b.GetBufferPointer());
  EXPECT_FALSE(read_etdump({data, b.GetSize()}, "x.etdp", d));
  EXPECT_THAT(said(d), HasSubstr("more events than can be"));
}

}  // namespace
}  // namespace deuteron

// SPDX-License-Identifier: Apache-2.0
// The overlap rule: every read sees what its tensor (or, for a view, a tensor nested with it) wrote
// last. Checked on cases by hand, and against a slow reference that keeps the writer of every byte,
// on random programs.
#include <gtest/gtest.h>

#include <random>

#include "runtime/test_kernels.h"
#include "runtime/test_program.h"

namespace deuteron {
namespace {
using namespace test;

// A program of `copy` calls on byte tensors, with one input and one output.
struct Bench : TestProgram {
  int32_t bytes(uint32_t offset, int32_t n) { return planned(ScalarType::u8, {n}, offset); }
  Status load() {
    Loaded l(TestProgram::bytes(), kTestKernels);
    return l.status;
  }
};

TEST(Overlap, ReusingDeadMemoryIsFine) {
  Bench p;
  const int32_t x = p.bytes(0, 16), a = p.bytes(16, 16), b = p.bytes(0, 16), y = p.bytes(16, 16);
  p.inputs = {x};
  p.outputs = {y};
  p.call("test::reverse", {x, a});
  p.call("test::reverse", {a, b});
  p.call("test::reverse", {b, y});
  EXPECT_TRUE(p.load().ok());
}

TEST(Overlap, OverwrittenBeforeTheLastReader) {
  Bench p;
  const int32_t x = p.bytes(0, 16), a = p.bytes(16, 16), b = p.bytes(31, 16), y = p.bytes(48, 16);
  p.inputs = {x};
  p.outputs = {y};
  p.call("test::reverse", {x, a});
  p.call("test::reverse", {x, b});  // takes one byte of a
  p.call("test::add", {a, b, y});
  const Status s = p.load();
  EXPECT_EQ(s.code, Code::overlap);
  EXPECT_EQ(s.instruction, 2);
  EXPECT_EQ(s.argument, 0);
}

TEST(Overlap, ReadBeforeWritten) {
  Bench p;
  const int32_t x = p.bytes(0, 16), a = p.bytes(16, 16), y = p.bytes(32, 16);
  p.inputs = {x};
  p.outputs = {y};
  p.call("test::add", {x, a, y});
  EXPECT_EQ(p.load().code, Code::overlap);
}

TEST(Overlap, ScratchIsReadByNobody) {
  for (const bool as_view : {false, true}) {
    Bench p;
    const int32_t x = p.bytes(0, 16), scratch = p.bytes(16, 16), a = p.bytes(32, 16),
                  y = p.bytes(48, 16);
    const int32_t same_bytes = p.bytes(16, 16);
    p.inputs = {x};
    p.outputs = {y};
    p.call("test::scratch", {x, scratch, a});
    p.call("test::add", {a, as_view ? same_bytes : scratch, y});
    const Status s = p.load();
    EXPECT_EQ(s.code, Code::overlap);
    EXPECT_EQ(s.instruction, 1);
    EXPECT_EQ(s.argument, 1);
  }
  Bench p;  // written by a call in between
  const int32_t x = p.bytes(0, 16), scratch = p.bytes(16, 16), a = p.bytes(32, 16),
                b = p.bytes(16, 16), y = p.bytes(48, 16);
  p.inputs = {x};
  p.outputs = {y};
  p.call("test::scratch", {x, scratch, a});
  p.call("test::reverse", {a, b});
  p.call("test::add", {a, b, y});
  EXPECT_TRUE(p.load().ok());
}

TEST(Overlap, OutputsAreReadAtTheEnd) {
  Bench p;
  const int32_t x = p.bytes(0, 16), y = p.bytes(16, 16), z = p.bytes(24, 16);
  p.inputs = {x};
  p.outputs = {y};
  p.call("test::reverse", {x, y});
  EXPECT_TRUE(p.load().ok());
  Bench q;
  q.inputs = {q.bytes(0, 16)};
  q.outputs = {q.bytes(16, 16), q.bytes(24, 16)};
  q.call("test::reverse", {0, 1});
  q.call("test::reverse", {0, 2});
  EXPECT_EQ(q.load().code, Code::overlap);
  (void)z;
  Bench never;
  never.inputs = {never.bytes(0, 16)};
  never.outputs = {never.bytes(16, 16)};
  EXPECT_EQ(never.load().code, Code::overlap);
}

TEST(Overlap, ViewsSeeTheirBase) {
  Bench p;  // a flatten that costs no instruction
  const int32_t x = p.planned(ScalarType::u8, {2, 8}, 0), a = p.planned(ScalarType::u8, {2, 8}, 16),
                view = p.bytes(16, 16);
  const int32_t half = p.bytes(24, 8), y = p.bytes(32, 16), z = p.bytes(48, 8);
  p.inputs = {x};
  p.outputs = {y, z};
  p.call("test::reverse", {x, a});
  p.call("test::reverse", {view, y});
  p.call("test::reverse", {half, z});
  EXPECT_TRUE(p.load().ok());

  Bench joined;  // two halves written one by one, read as a whole
  const int32_t in = joined.bytes(0, 8), left = joined.bytes(16, 8), right = joined.bytes(24, 8),
                both = joined.bytes(16, 16), out = joined.bytes(32, 16);
  joined.inputs = {in};
  joined.outputs = {out};
  joined.call("test::reverse", {in, left});
  joined.call("test::reverse", {in, right});
  joined.call("test::reverse", {both, out});
  EXPECT_TRUE(joined.load().ok());

  // Rows of a whole that lie across the bands in which it was written, also when a band has lost a
  // byte that is not read; no longer once one has lost a byte of these rows.
  for (const uint32_t other : {48u, 30u, 28u, 27u, 18u, 13u, 12u}) {
    Bench crossing;
    const int32_t in2 = crossing.bytes(0, 8), l2 = crossing.bytes(16, 8),
                  r2 = crossing.bytes(24, 8), c2 = crossing.bytes(20, 8),
                  o2 = crossing.bytes(other, 8), out2 = crossing.bytes(64, 8);
    crossing.inputs = {in2};
    crossing.outputs = {out2};
    crossing.call("test::reverse", {in2, l2});
    crossing.call("test::reverse", {in2, r2});
    crossing.call("test::reverse", {in2, o2});
    crossing.call("test::reverse", {c2, out2});
    EXPECT_EQ(crossing.load().code, other >= 28 || other == 12 ? Code::ok : Code::overlap) << other;
  }
}

TEST(Overlap, InPlaceOnlyWhereTheKernelSaysSo) {
  const auto code = [](const char* op, uint32_t offset) {
    Bench p;
    const int32_t x = p.bytes(16, 16), y = p.bytes(offset, 16);
    p.inputs = {x};
    p.outputs = {y};
    if (std::string(op) == "test::add") p.call(op, {x, x, y});
    else p.call(op, {x, y});
    return p.load().code;
  };
  EXPECT_EQ(code("test::add", 16), Code::ok);
  EXPECT_EQ(code("test::add", 15), Code::overlap);
  EXPECT_EQ(code("test::add", 17), Code::overlap);
  EXPECT_EQ(code("test::reverse", 16), Code::overlap);
  EXPECT_EQ(code("test::reverse", 31), Code::overlap);
  EXPECT_EQ(code("test::reverse", 32), Code::ok);
  EXPECT_EQ(code("test::reverse", 0), Code::ok);
}

TEST(Overlap, ScratchIsAWrite) {
  const auto code = [](uint32_t scratch_at) {
    Bench p;
    const int32_t x = p.bytes(0, 16), scratch = p.bytes(scratch_at, 16), y = p.bytes(32, 16),
                  z = p.bytes(48, 16);
    p.inputs = {x};
    p.outputs = {z};
    p.call("test::scratch", {x, scratch, y});
    p.call("test::add", {x, y, z});
    return p.load().code;
  };
  EXPECT_EQ(code(16), Code::ok);
  EXPECT_EQ(code(48), Code::ok) << "where a later tensor lies";
  EXPECT_EQ(code(0), Code::overlap) << "on the input of its own call";
  EXPECT_EQ(code(40), Code::overlap) << "on the out of its own call";
}

TEST(Overlap, InputsMayBeOverwrittenAfterTheirLastReader) {
  Bench p;
  const int32_t x = p.bytes(0, 16), a = p.bytes(16, 16), y = p.bytes(8, 16);
  p.inputs = {x};
  p.outputs = {y};
  p.call("test::reverse", {x, a});
  p.call("test::scratch", {a, p.bytes(32, 16), y});
  EXPECT_EQ(p.load().code, Code::overlap) << "y takes the first half of a";
  Bench q;
  const int32_t x2 = q.bytes(0, 16), a2 = q.bytes(32, 16), y2 = q.bytes(8, 16);
  q.inputs = {x2};
  q.outputs = {y2};
  q.call("test::reverse", {x2, a2});
  q.call("test::reverse", {a2, y2});
  EXPECT_TRUE(q.load().ok());
}

// Byte by byte: who wrote last.
bool reference_accepts(const std::vector<std::pair<int, int>>& ranges,
                       const std::vector<std::vector<int>>& calls, int output) {
  std::vector<int> writer(256, -1);
  std::vector<bool> written(ranges.size());
  written[0] = true;
  for (const auto& c : calls) written[static_cast<size_t>(c[2])] = true;
  const auto write = [&](int t) {
    for (int i = ranges[static_cast<size_t>(t)].first; i < ranges[static_cast<size_t>(t)].second;
         ++i)
      writer[static_cast<size_t>(i)] = t;
  };
  const auto read = [&](int t) {
    const auto [b, e] = ranges[static_cast<size_t>(t)];
    bool nested = true, intact = true;
    for (int i = b; i < e; ++i) {
      const int w = writer[static_cast<size_t>(i)];
      if (w == t) continue;
      if (w < 0 || written[static_cast<size_t>(t)]) return false;
      const auto [wb, we] = ranges[static_cast<size_t>(w)];
      nested = nested && ((wb >= b && we <= e) || (wb <= b && we >= e));
      for (int k = std::max(wb, b); k < std::min(we, e); ++k)
        intact = intact && writer[static_cast<size_t>(k)] == w;
    }
    return nested || intact;
  };
  write(0);
  for (const auto& c : calls) {
    const auto [yb, ye] = ranges[static_cast<size_t>(c[2])];
    for (int k = 0; k < 2; ++k) {
      const auto [xb, xe] = ranges[static_cast<size_t>(c[static_cast<size_t>(k)])];
      if (ye > xb && xe > yb && xb != yb)
        return false;  // in place: same start, and all have the same size
      if (!read(c[static_cast<size_t>(k)])) return false;
    }
    write(c[2]);
  }
  return read(output);
}

TEST(Overlap, AgreesWithTheByteByByteReference) {
  std::mt19937 random(20261121);
  const auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  int accepted = 0, refused = 0;
  for (int round = 0; round < 4000; ++round) {
    Bench p;
    std::vector<std::pair<int, int>> ranges;
    const int tensors = 3 + below(6), places = 2 + below(5), step = 1 + below(4) % 2 * 8;
    for (int t = 0; t < tensors; ++t) {
      const int offset = below(places) * 16 + (step > 1 && below(6) == 0 ? 8 : 0);
      ranges.push_back({offset, offset + 16});
      p.bytes(static_cast<uint32_t>(offset), 16);
    }
    p.buffers[1] = 160;
    std::vector<std::vector<int>> calls;
    for (int k = below(7); k > 0; --k) {
      // Mostly read what was written, or the random programs would nearly all be wrong.
      const int last = calls.empty() ? 0 : calls.back()[2];
      const int a = below(3) ? last : below(tensors), b = below(2) ? last : below(tensors),
                y = below(tensors);
      calls.push_back({a, b, y});
      p.call("test::add", {a, b, y});
    }
    const int output = calls.empty() || below(4) == 0 ? below(tensors) : calls.back()[2];
    p.inputs = {0};
    p.outputs = {output};
    const Status s = p.load();
    ASSERT_TRUE(s.ok() || s.code == Code::overlap) << s.detail;
    ASSERT_EQ(s.ok(), reference_accepts(ranges, calls, output))
        << "round " << round << ": " << (s.detail ? s.detail : "loaded");
    ++(s.ok() ? accepted : refused);
  }
  EXPECT_GT(accepted, 400);
  EXPECT_GT(refused, 400);
}

}  // namespace
}  // namespace deuteron

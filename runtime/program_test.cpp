// SPDX-License-Identifier: Apache-2.0
// Loading and running good programs: values of every kind, memory for what has none, tables of
// exactly the measured size.
#include "runtime/deuteron.h"

#include <gtest/gtest.h>

#include <cstring>

#include "runtime/test_kernels.h"
#include "runtime/test_program.h"

namespace deuteron {
namespace {
using namespace test;

std::vector<uint8_t> counting(size_t n, uint8_t first) {
  std::vector<uint8_t> v(n);
  for (size_t i = 0; i < n; ++i) v[i] = static_cast<uint8_t>(first + 3 * i);
  return v;
}

TEST(Program, RunsTwoCallsAndRunsAgain) {
  Loaded l(two_calls().bytes(), kTestKernels);
  ASSERT_TRUE(l.status.ok()) << l.status.detail;
  EXPECT_EQ(l.needs.planned_bytes, 96u);
  EXPECT_EQ(l.needs.instructions, 2);
  ASSERT_EQ(l.program.input_count(), 2);
  ASSERT_EQ(l.program.output_count(), 1);
  for (uint8_t round = 0; round < 3; ++round) {
    const auto a = counting(30, round), b = counting(30, static_cast<uint8_t>(100 + round));
    ASSERT_TRUE(l.program.set_input(0, a.data(), a.size()).ok());
    ASSERT_TRUE(l.program.set_input(1, b.data(), b.size()).ok());
    EXPECT_TRUE(l.program.run().ok());
    const Tensor& y = l.program.output(0);
    ASSERT_EQ(y.numel, 30);
    for (size_t i = 0; i < 30; ++i)
      EXPECT_EQ(data_of(y)[i], static_cast<uint8_t>(a[29 - i] + b[29 - i]));
  }
}

TEST(Program, StepsShowTheCallsOfTheFile) {
  Loaded l(two_calls().bytes(), kTestKernels);
  ASSERT_TRUE(l.status.ok());
  const Program::Step add = l.program.step(0);
  EXPECT_STREQ(add.op, "test::add");
  ASSERT_EQ(add.count, 3);
  EXPECT_EQ(add.args[0]->tensor->data, l.program.input(0).data);
  const Program::Step reverse = l.program.step(1);
  EXPECT_STREQ(reverse.op, "test::reverse");
  ASSERT_EQ(reverse.count, 2);
  EXPECT_EQ(reverse.args[1]->tensor->sizes[2], 5);
  EXPECT_EQ(l.program.step(2).op, nullptr);
  EXPECT_EQ(l.program.step(-1).op, nullptr);
}

TEST(Program, AnEmptyOneDoesNotRun) {
  Program p;
  EXPECT_EQ(p.run().code, Code::bad_input);
  Loaded l(two_calls().bytes(), kTestKernels);
  ASSERT_TRUE(l.program.run().ok());
  l.program.unload();
  EXPECT_EQ(l.program.run().code, Code::bad_input);
  const Block file(two_calls().bytes());
  EXPECT_FALSE(p.load(file.file(), kTestKernels, {}, {}).ok());
  EXPECT_EQ(p.run().code, Code::bad_input);
}

TEST(Program, MemoriesThatOverlapAreRefused) {
  Block all(std::vector<uint8_t>(1 << 16));
  const auto bytes = two_calls().bytes();
  auto* const at = const_cast<uint8_t*>(all.data());
  std::memcpy(at, bytes.data(), bytes.size());
  const File file{at, bytes.size()};
  Needs needs;
  ASSERT_TRUE(measure(file, kTestKernels, &needs).ok());
  const size_t behind = (bytes.size() + 15) / 16 * 16;
  const auto code = [&](size_t tables, size_t planned) {
    Program p;
    const Status s = p.load(file, kTestKernels, {at + tables, needs.tables_bytes},
                            {at + planned, needs.planned_bytes});
    return s.code;
  };
  const size_t next = behind + needs.tables_bytes;
  EXPECT_EQ(code(behind, next), Code::ok);
  EXPECT_EQ(code(next, behind),
            needs.planned_bytes > needs.tables_bytes ? Code::bad_input : Code::ok);
  EXPECT_EQ(code(behind, behind), Code::bad_input);
  EXPECT_EQ(code(behind, next - 16), Code::bad_input);
  EXPECT_EQ(code(next, next + 16), Code::bad_input);
  EXPECT_EQ(code(behind, behind - 16), Code::bad_input);
  EXPECT_EQ(code(0, next), Code::bad_input);
  EXPECT_EQ(code(behind - 16, next), Code::bad_input);
}

TEST(Program, SetInputChecksIndexAndSize) {
  Loaded l(two_calls().bytes(), kTestKernels);
  const uint8_t data[31] = {};
  EXPECT_EQ(l.program.set_input(-1, data, 30).code, Code::bad_input);
  EXPECT_EQ(l.program.set_input(2, data, 30).code, Code::bad_input);
  EXPECT_EQ(l.program.set_input(0, data, 29).code, Code::bad_input);
  EXPECT_EQ(l.program.set_input(0, data, 31).bytes_needed, 30u);
  EXPECT_EQ(l.program.set_input(0, nullptr, 30).code, Code::bad_input);
}

TEST(Program, EmptyProgramHasNoInputs) {
  Program empty;
  EXPECT_EQ(empty.input_count(), 0);
  EXPECT_EQ(empty.set_input(0, nullptr, 0).code, Code::bad_input);
  EXPECT_EQ(empty.run().code, Code::bad_input);
  EXPECT_EQ(empty.step(0).op, nullptr);
}

// An argument of each kind, decoded as it was written.
TEST(Program, DecodesEveryKindOfValue) {
  TestProgram p;
  const int32_t x = p.planned(ScalarType::f32, {3, 1}, 0, {1, 0}),
                c = p.constant<int16_t>(ScalarType::s16, {2}, {-7, 9});
  const int32_t y = p.planned(ScalarType::f32, {3, 1}, 16);
  p.inputs = {x};
  p.outputs = {y};
  const int32_t none = p.none();
  const int32_t integer = p.integer(-5000000000), real = p.real(0.25), yes = p.boolean(true),
                text = p.string("nearest");
  const int32_t list = p.ints({4, -1, 0}), empty = p.int_list({}),
                tensors = p.tensor_list({x, c, x});
  p.call("test::any", {x, c, integer, none, real, integer, yes, list, empty, tensors, text, y});
  p.call("test::any",
         {x, none, integer, integer, integer, none, yes, empty, none, tensors, none, y});
  p.call("test::reverse", {x, y});
  Loaded l(p.bytes(), kTestKernels);
  ASSERT_TRUE(l.status.ok()) << l.status.detail << " instruction " << l.status.instruction
                             << " argument " << l.status.argument;
  const Program::Step s = l.program.step(0);
  ASSERT_EQ(s.count, 12);
  EXPECT_EQ(s.args[0]->tensor->dim_order[0], 1);
  EXPECT_EQ(s.args[0]->tensor->type, ScalarType::f32);
  ASSERT_EQ(s.args[1]->kind, Kind::tensor);
  EXPECT_TRUE(s.args[1]->tensor->constant);
  EXPECT_EQ(static_cast<const int16_t*>(s.args[1]->tensor->data)[1], 9);
  EXPECT_EQ(s.args[2]->integer, -5000000000);
  EXPECT_EQ(s.args[3]->kind, Kind::none);
  EXPECT_EQ(s.args[4]->real, 0.25);
  EXPECT_TRUE(s.args[6]->boolean);
  ASSERT_EQ(s.args[7]->list.count, 3);
  EXPECT_EQ(s.args[7]->list.integer(1), -1);
  EXPECT_EQ(s.args[8]->list.count, 0);
  ASSERT_EQ(s.args[9]->list.count, 3);
  EXPECT_EQ(s.args[9]->list.items[1]->tensor->numel, 2);
  EXPECT_STREQ(s.args[10]->string, "nearest");
  EXPECT_EQ(l.program.step(1).args[5]->kind, Kind::none);
}

TEST(Program, SeveralOutsAreReturnedAsAList) {
  TestProgram p;
  const int32_t x = p.planned(ScalarType::u8, {4}, 0), y = p.planned(ScalarType::u8, {4}, 16),
                z = p.planned(ScalarType::s64, {4}, 32);
  p.inputs = {x};
  p.outputs = {z, y, z};
  p.call("test::two", "", {x, y, z, p.tensor_list({y, z})});
  Loaded l(p.bytes(), kTestKernels);
  ASSERT_TRUE(l.status.ok()) << l.status.detail;
  EXPECT_EQ(l.program.step(0).count, 3);
  EXPECT_EQ(l.program.output(0).data, l.program.output(2).data);
}

TEST(Program, AnOutputMayBeNone) {
  TestProgram p = two_calls();
  p.outputs.insert(p.outputs.begin(), p.none());
  Loaded l(p.bytes(), kTestKernels);
  ASSERT_TRUE(l.status.ok()) << l.status.detail;
  EXPECT_EQ(l.program.output(0).numel, 0);
  EXPECT_EQ(l.program.output(1).numel, 30);
}

// The file plans no memory for them: the runtime adds some behind the planned buffers.
TEST(Program, InputsAndOutputsWithoutMemoryGetSome) {
  TestProgram p;
  const int32_t a = p.bare(ScalarType::u8, {3}), b = p.bare(ScalarType::u8, {3}),
                y = p.bare(ScalarType::u8, {3});
  p.inputs = {a, b};
  p.outputs = {y, y};
  p.call("test::add", {a, b, y});
  p.buffers = {0};
  Loaded l(p.bytes(), kTestKernels);
  ASSERT_TRUE(l.status.ok()) << l.status.detail;
  EXPECT_EQ(l.needs.planned_bytes % 16, 0u);
  EXPECT_GE(l.needs.planned_bytes, 48u);
  const uint8_t one[] = {1, 2, 3}, two[] = {10, 20, 30};
  l.program.set_input(0, one, 3);
  l.program.set_input(1, two, 3);
  EXPECT_TRUE(l.program.run().ok());
  EXPECT_EQ(data_of(l.program.output(1))[2], 33);
}

TEST(Program, PlannedBuffersFollowOneAnother) {
  TestProgram p;
  p.buffers = {0, 20, 40};
  const int32_t a = p.planned(ScalarType::u8, {17}, 0, {}, 1),
                y = p.planned(ScalarType::u8, {17}, 16, {}, 2);
  p.inputs = {a};
  p.outputs = {y};
  p.call("test::reverse", {a, y});
  Loaded l(p.bytes(), kTestKernels);
  ASSERT_TRUE(l.status.ok()) << l.status.detail;
  EXPECT_EQ(l.needs.planned_bytes, 32u + 48u);
  EXPECT_EQ(data_of(l.program.output(0)) - l.planned.data(), 32 + 16);
}

// An output may be a constant, an input, or both; a program may have no instructions at all.
TEST(Program, OutputsMayBeConstantsOrInputs) {
  TestProgram p;
  const int32_t x = p.planned(ScalarType::f32, {2}, 0),
                c = p.constant<float>(ScalarType::f32, {2}, {1.5f, -2});
  p.inputs = {x};
  p.outputs = {c, x};
  Loaded l(p.bytes(), kTestKernels);
  ASSERT_TRUE(l.status.ok()) << l.status.detail;
  const float in[] = {3, 4};
  l.program.set_input(0, in, sizeof in);
  EXPECT_TRUE(l.program.run().ok());
  EXPECT_EQ(static_cast<float*>(l.program.output(0).data)[1], -2);
  EXPECT_EQ(static_cast<float*>(l.program.output(1).data)[1], 4);
}

TEST(Program, TensorsWithoutElementsNeedNoMemory) {
  TestProgram p;
  const int32_t x = p.planned(ScalarType::u8, {2, 0, 5}, 0), y = p.planned(ScalarType::u8, {0}, 0),
                none = p.bare(ScalarType::u8, {0});
  p.inputs = {x};
  p.outputs = {y};
  p.call("test::add", {x, none, y});
  Loaded l(p.bytes(), kTestKernels);
  ASSERT_TRUE(l.status.ok()) << l.status.detail;
  ASSERT_TRUE(l.program.set_input(0, nullptr, 0).ok());
  EXPECT_TRUE(l.program.run().ok());
}

TEST(Program, WithoutHeaderOrConstantsTheWholeFileIsTheProgram) {
  TestProgram p = two_calls();
  p.has_header = false;
  Loaded l(p.bytes(), kTestKernels);
  EXPECT_TRUE(l.status.ok()) << l.status.detail;
}

// Less than the measured bytes is refused and the answer says how much is needed; the measured
// bytes are always enough.
TEST(Program, SaysHowMuchMemoryItNeeds) {
  const Block file(two_calls().bytes());
  Needs needs;
  ASSERT_TRUE(measure(file.file(), kTestKernels, &needs).ok());
  size_t refused = 0;
  for (size_t bytes = 0; bytes < needs.tables_bytes; bytes += 8) {
    const Block tables(bytes), planned(needs.planned_bytes);
    Program program;
    const Status s = program.load(file.file(), kTestKernels, tables.memory(), planned.memory());
    if (s.ok()) continue;
    ++refused;
    EXPECT_EQ(s.code, Code::out_of_memory);
    EXPECT_EQ(s.bytes_needed, needs.tables_bytes);
    EXPECT_EQ(program.instruction_count(), 0);
  }
  EXPECT_GE(refused, needs.tables_bytes / 8 * 9 / 10) << "the measured bound is loose";
  const Block tables(needs.tables_bytes), planned(needs.planned_bytes - 1);
  Program program;
  const Status s = program.load(file.file(), kTestKernels, tables.memory(), planned.memory());
  EXPECT_EQ(s.code, Code::out_of_memory);
  EXPECT_EQ(s.bytes_needed, needs.planned_bytes);
  EXPECT_EQ(program.load(file.file(), kTestKernels, {}, planned.memory()).code,
            Code::out_of_memory);
}

TEST(Program, RefusesMemoryThatIsNotAligned) {
  const std::vector<uint8_t> bytes = two_calls().bytes();
  std::vector<uint8_t> shifted(bytes.size() + 24);
  const Block file(bytes), memory(4096);
  Program program;
  EXPECT_EQ(
      program
          .load(file.file(), kTestKernels, {memory.data() + 4, 2000}, {memory.data() + 2048, 256})
          .code,
      Code::bad_input);
  EXPECT_EQ(
      program.load(file.file(), kTestKernels, {memory.data(), 2000}, {memory.data() + 2052, 256})
          .code,
      Code::bad_input);
  const Block moved(bytes.size() + 8);
  std::memcpy(moved.data() + 8, bytes.data(), bytes.size());
  EXPECT_EQ(program
                .load({moved.data() + 8, bytes.size()}, kTestKernels, {memory.data(), 2000},
                      {memory.data() + 2048, 256})
                .code,
            Code::bad_input);
}

// Calls with more values than measure() keeps on its stack are estimated, and the estimate is
// enough.
TEST(Program, LongListsAreMeasured) {
  TestProgram p;
  const int32_t x = p.planned(ScalarType::u8, {4}, 0), y = p.planned(ScalarType::u8, {4}, 16);
  p.inputs = {x};
  p.outputs = {y};
  const int32_t n = p.integer(1), yes = p.boolean(true);
  const int32_t longest = p.int_list(std::vector<int64_t>(500, n)),
                many = p.tensor_list(std::vector<int32_t>(90, x));
  p.call("test::any", {x, x, n, n, n, n, yes, longest, longest, many, p.none(), y});
  p.call("test::reverse", {x, y});
  Loaded l(p.bytes(), kTestKernels);
  ASSERT_TRUE(l.status.ok()) << l.status.detail;
  EXPECT_EQ(l.program.step(0).args[9]->list.count, 90);
  EXPECT_EQ(l.program.step(0).args[8]->list.integer(499), 1);
}

TEST(Isa, AMarkerNamesTheInstructionSet) {
  EXPECT_EQ(accepted_isas(), 7) << "a host runs the conventions of every instruction set";
  for (const char* marker :
       {"deuteron:isa=scalar", "deuteron:isa=dsp", "deuteron:isa=mve", "deuteron", "anything"}) {
    TestProgram p = two_calls();
    p.string(marker);
    EXPECT_TRUE(Loaded(p.bytes(), kTestKernels).status.ok()) << marker;
  }
  for (const char* marker :
       {"deuteron:isa=sve", "deuteron:isa=", "deuteron:isa=mve2", "deuteron:isa=mv"}) {
    TestProgram p = two_calls();
    p.string(marker);
    EXPECT_EQ(Loaded(p.bytes(), kTestKernels).status.code, Code::wrong_isa) << marker;
  }
}

TEST(Status, EveryCodeHasAName) {
  for (int c = 0; c <= static_cast<int>(Code::delegate_failed); ++c)
    EXPECT_STRNE(name_of(static_cast<Code>(c)), "?");
  EXPECT_STREQ(name_of(Isa::mve), "mve");
}

TEST(Arena, CountsOnWhenItIsFull) {
  alignas(16) uint8_t bytes[64];
  Arena a{bytes, sizeof bytes, 0};
  EXPECT_EQ(a.take(3, 1), bytes);
  EXPECT_EQ(a.take(8, 8), bytes + 8);
  EXPECT_EQ(a.take(64, 16), nullptr);
  EXPECT_EQ(a.used, 80u);
  EXPECT_EQ(a.take(SIZE_MAX - 8, 1), nullptr);
  EXPECT_GT(a.used, sizeof bytes);
}

TEST(Arena, SharesTheEndOfItsMemory) {
  alignas(16) uint8_t bytes[72];
  Arena a{bytes, sizeof bytes, 0};
  EXPECT_EQ(a.share(20), bytes + 32);  // 64 - 32: the end is a multiple of 16
  EXPECT_EQ(a.share(4), bytes + 48);   // in the same block
  EXPECT_EQ(a.shared, 40u);
  EXPECT_EQ(a.take(32, 16), bytes);
  EXPECT_EQ(a.take(1, 1), nullptr);  // behind it the shared block begins
  EXPECT_FALSE(a.fits());
  Arena small{bytes, 48, 0};
  EXPECT_EQ(small.share(49), nullptr);
  EXPECT_EQ(small.shared, 64u);
}

}  // namespace
}  // namespace deuteron

// SPDX-License-Identifier: Apache-2.0
// Programs in several memories: the same results wherever the buffers lie, constants read from
// their copies, and what is refused.
#include <gtest/gtest.h>

#include <random>

#include "runtime/test_kernels.h"
#include "runtime/test_program.h"

namespace deuteron {
namespace {
using namespace test;

constexpr int32_t kElements = 16;

// y = reverse(x + c): x and y in buffer 1, the sum in buffer 2, and c copied behind it.
struct TwoMemories : TestProgram {
  int32_t x, c, sum, y;
  explicit TwoMemories(const std::string& copy = "2,16,0,16") {
    buffers.resize(3);
    x = planned(ScalarType::u8, {kElements}, 0);
    std::vector<uint8_t> data;
    for (uint8_t k = 0; k < kElements; ++k) data.push_back(static_cast<uint8_t>(3 * k + 1));
    c = constant(ScalarType::u8, {kElements}, data);
    sum = planned(ScalarType::u8, {kElements}, 0, {}, 2);
    y = planned(ScalarType::u8, {kElements}, 16);
    buffers[2] = 32;
    if (!copy.empty()) string("deuteron:copy=" + copy);
    inputs = {x};
    outputs = {y};
    call("test::add", {x, c, sum});
    call("test::reverse", {sum, y});
  }
};

struct Outcome {
  Status status;
  std::vector<uint8_t> output;
};

// `memories`: how many the program is given, each as large as measure_memories says.
Outcome run(const std::vector<uint8_t>& bytes, int32_t memories) {
  const Block file(bytes);
  Needs needs;
  Outcome r{measure(file.file(), kTestKernels, &needs), {}};
  if (!r.status.ok()) return r;
  MemoryNeeds wanted;
  EXPECT_TRUE(measure_memories(file.file(), needs, &wanted).ok());
  std::vector<Block> blocks;
  std::vector<Memory> list;
  for (int32_t k = 0; k < memories; ++k) {
    blocks.emplace_back(memories == 1      ? needs.planned_bytes
                        : k < wanted.count ? wanted.bytes[k]
                                           : 16);
    list.push_back(blocks.back().memory());
  }
  const Block tables(needs.tables_bytes);
  Program program;
  r.status = program.load(file.file(), kTestKernels, tables.memory(), list.data(), memories);
  if (!r.status.ok()) return r;
  std::vector<uint8_t> x(kElements);
  for (uint8_t k = 0; k < kElements; ++k) x[k] = static_cast<uint8_t>(200 - 7 * k);
  EXPECT_TRUE(program.set_input(0, x.data(), x.size()).ok());
  EXPECT_TRUE(program.run().ok());
  const auto* y = static_cast<const uint8_t*>(program.output(0).data);
  r.output.assign(y, y + kElements);
  return r;
}

TEST(Memories, SameResultsInOneAndInTwo) {
  const Outcome plain = run(TwoMemories("").bytes(), 1), one = run(TwoMemories().bytes(), 1),
                two = run(TwoMemories().bytes(), 2);
  ASSERT_TRUE(plain.status.ok()) << plain.status.detail;
  ASSERT_TRUE(one.status.ok()) << one.status.detail;
  ASSERT_TRUE(two.status.ok()) << two.status.detail;
  EXPECT_EQ(one.output, plain.output);
  EXPECT_EQ(two.output, plain.output);
  EXPECT_EQ(plain.output[0], static_cast<uint8_t>(200 - 7 * 15 + 3 * 15 + 1)) << "reversed once";
}

// The file's own constants no longer matter once they are copied, and the copy lies where the file
// says.
TEST(Memories, ConstantsAreReadFromTheCopy) {
  const Block file(TwoMemories().bytes());
  Needs needs;
  ASSERT_TRUE(measure(file.file(), kTestKernels, &needs).ok());
  MemoryNeeds wanted;
  ASSERT_TRUE(measure_memories(file.file(), needs, &wanted).ok());
  ASSERT_EQ(wanted.count, 2);
  EXPECT_EQ(wanted.bytes[0], 32u);
  EXPECT_EQ(wanted.bytes[1], 32u);
  const Block tables(needs.tables_bytes), first(32), second(32);
  const Memory list[] = {first.memory(), second.memory()};
  Program program;
  ASSERT_TRUE(program.load(file.file(), kTestKernels, tables.memory(), list, 2).ok());
  const Tensor& c = *program.step(0).args[1]->tensor;
  EXPECT_TRUE(c.constant);
  EXPECT_EQ(c.data, second.data() + 16);
  EXPECT_EQ(second.data()[17], 4);
}

TEST(Memories, RefusesWhatDoesNotFit) {
  const struct {
    const char* copy;
    const char* detail;
  } cases[] = {
      {"3,0,0,16", "does not exist"},
      {"0,0,0,16", "does not exist"},
      {"2,32,0,16", "beyond their planned buffer"},
      {"2,16,0,32", "beyond"},
      {"2,16,16,16", "does not have"},
      {"2,8,0,16", "beyond"},
      {"2,16,0", "four numbers"},
      {"2,16,0,16,1", "four numbers"},
      {"2,16,0,-1", "four numbers"},
      {"2,16,0,4294967312", "four"},
      {"2,0,0,16", "copy of constants"},
      {"1,0,0,16", "copy of constants"},
      {"1,16,0,16", "copy of constants"},
  };
  for (const auto& c : cases) {
    const Outcome r = run(TwoMemories(c.copy).bytes(), 2);
    ASSERT_FALSE(r.status.ok()) << c.copy;
    EXPECT_NE(std::string(r.status.detail).find(c.detail), std::string::npos)
        << c.copy << " says " << r.status.detail;
  }
  TwoMemories twice;
  twice.string("deuteron:copy=2,16,0,16");
  EXPECT_STREQ(run(twice.bytes(), 2).status.detail, "two copies of constants overlap");
}

TEST(Memories, RefusesMemoryThatIsWrong) {
  const Block file(TwoMemories().bytes());
  Needs needs;
  ASSERT_TRUE(measure(file.file(), kTestKernels, &needs).ok());
  const Block tables(needs.tables_bytes), first(32), second(32), third(32);
  Program program;
  const auto load = [&](std::vector<Memory> list) {
    return program.load(file.file(), kTestKernels, tables.memory(), list.data(),
                        static_cast<int32_t>(list.size()));
  };
  EXPECT_EQ(load({first.memory(), second.memory(), third.memory()}).code, Code::bad_input);
  EXPECT_EQ(load({}).code, Code::bad_input);
  const Status small = load({first.memory(), {second.data(), 16}});
  EXPECT_EQ(small.code, Code::out_of_memory);
  EXPECT_EQ(small.bytes_needed, 32u);
  EXPECT_EQ(load({first.memory(), {nullptr, 32}}).code, Code::out_of_memory);
  EXPECT_EQ(load({first.memory(), {second.data() + 8, 24}}).code, Code::bad_input);
  EXPECT_EQ(load({first.memory(), first.memory()}).code, Code::bad_input);
  EXPECT_TRUE(load({first.memory(), second.memory()}).ok());
}

// Buffers are apart in every check: a tensor that fits the sum of them and not its own is refused.
TEST(Memories, TensorsStayInTheirBuffer) {
  TwoMemories p;
  p.value(p.sum).child(6).set<uint32_t>(1, 17);
  EXPECT_STREQ(run(p.bytes(), 2).status.detail, "a tensor lies outside its planned buffer");
  TwoMemories q;
  q.value(q.sum).child(6).set<uint32_t>(0, 3);
  EXPECT_STREQ(run(q.bytes(), 2).status.detail,
               "a tensor lies in a planned buffer that does not exist");
}

}  // namespace
}  // namespace deuteron

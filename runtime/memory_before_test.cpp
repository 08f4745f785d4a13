// SPDX-License-Identifier: Apache-2.0
// Results do not depend on what memory held before: programs that once read what nothing had
// written.
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "tests/fuzz/load_and_run.h"
#include "tests/paths.h"

namespace deuteron {
namespace {
using namespace test;

std::vector<uint8_t> outputs_after(const Block& file, uint8_t before) {
  Needs needs;
  EXPECT_TRUE(measure(file.file(), kAllKernels, &needs).ok());
  const Block tables(needs.tables_bytes), planned(needs.planned_bytes, before);
  Program program;
  EXPECT_TRUE(program.load(file.file(), kAllKernels, tables.memory(), planned.memory()).ok());
  const UnloadAtEnd unload{program};
  EXPECT_TRUE(set_all_inputs(program, 3));
  EXPECT_TRUE(program.run().ok());
  return bytes_of_outputs(program);
}

TEST(MemoryBefore, ScratchOfTheNpu) {
  std::ifstream stream(
      std::string(kSourceFolder) + "/tests/reproducers/npu_scratch_uninit/prog.pte",
      std::ios::binary);
  const Block file(std::vector<uint8_t>(std::istreambuf_iterator<char>(stream), {}));
  ASSERT_GT(file.size(), 1000u);
  const std::vector<uint8_t> zeros = outputs_after(file, 0), others = outputs_after(file, 0xA5);
  EXPECT_FALSE(zeros.empty());
  EXPECT_EQ(zeros, others);
}

}  // namespace
}  // namespace deuteron

// SPDX-License-Identifier: Apache-2.0
// State: it begins as the file says, lives from run to run, begins anew when told, and nothing else
// may lie where it lies.
#include <gtest/gtest.h>

#include "runtime/test_kernels.h"
#include "runtime/test_program.h"

namespace deuteron {
namespace {
using namespace test;

constexpr uint32_t kState = 16;  // its place

// y = state + x, and the state becomes y.
struct Sum : TestProgram {
  int32_t x, sum, state_value, y;
  explicit Sum(uint32_t x_at = 0, uint32_t sum_at = 32) {
    x = planned(ScalarType::u8, {4}, x_at);
    sum = planned(ScalarType::u8, {4}, sum_at);
    state_value = state(ScalarType::u8, {4}, kState, {10, 20, 30, 40});
    y = sum;
    inputs = {x};
    outputs = {y};
    call("test::add", {state_value, x, sum});
    call("aten::copy_", "", {state_value, sum, boolean(false), state_value});
  }
};

const Kernel kCopy = {"aten::copy_", "OTB", [](Call& c, Prepared* p) {
                        if (bytes_of(c.tensor(0)) != bytes_of(c.tensor(1)))
                          return bad_argument(1, "has another size than the out");
                        return keep_bytes(c, p,
                                          {data_of(c.tensor(1)), nullptr, data_of(c.tensor(0)),
                                           nullptr, bytes_of(c.tensor(0))},
                                          [](const void* args) {
                                            const Bytes& k = *static_cast<const Bytes*>(args);
                                            std::memcpy(k.y, k.a, static_cast<size_t>(k.count));
                                          });
                      }};
const Kernel* const kList[] = {&kAdd, &kReverse, &kCopy};
const KernelTable kKernels = {kList, 3};

std::vector<int> run_once(Program& program, uint8_t x) {
  const uint8_t input[] = {x, x, x, x};
  EXPECT_TRUE(program.set_input(0, input, sizeof input).ok());
  EXPECT_TRUE(program.run().ok());
  const uint8_t* y = data_of(program.output(0));
  return {y, y + 4};
}

TEST(State, LivesFromRunToRun) {
  Loaded l(Sum().bytes(), kKernels);
  ASSERT_TRUE(l.status.ok()) << l.status.detail;
  ASSERT_EQ(l.program.state_count(), 1);
  EXPECT_EQ(l.program.state(0).numel, 4);
  EXPECT_EQ(run_once(l.program, 1), (std::vector{11, 21, 31, 41}));
  EXPECT_EQ(run_once(l.program, 2), (std::vector{13, 23, 33, 43}));
  l.program.reset_state();
  EXPECT_EQ(run_once(l.program, 0), (std::vector{10, 20, 30, 40}));
}

TEST(State, ProgramsWithoutItHaveNone) {
  Loaded l(two_calls().bytes(), kTestKernels);
  ASSERT_TRUE(l.status.ok()) << l.status.detail;
  EXPECT_EQ(l.program.state_count(), 0);
  l.program.reset_state();
}

void expect_refused(Sum program, Code code, const char* text) {
  Loaded l(program.bytes(), kKernels);
  EXPECT_EQ(l.status.code, code);
  ASSERT_NE(l.status.detail, nullptr);
  EXPECT_NE(std::string(l.status.detail).find(text), std::string::npos) << l.status.detail;
}

TEST(State, NothingElseMayLieThere) {
  expect_refused(Sum(kState), Code::overlap,
                 "overwritten by another tensor before this call reads");  // the input
  expect_refused(Sum(kState + 3), Code::overlap,
                 "overwritten by another tensor before this call reads");
  Sum temporary;  // behind the last reader
  const int32_t late = temporary.planned(ScalarType::u8, {4}, kState + 3);
  temporary.call("test::reverse", {temporary.x, late});
  expect_refused(temporary, Code::overlap, "the next run would not find it");
  Sum other;
  other.state(ScalarType::u8, {4}, kState - 2, {1, 2, 3, 4});
  expect_refused(other, Code::overlap, "overwritten");
}

TEST(State, ItsContentsAreChecked) {
  Sum beyond;
  beyond.value(beyond.state_value).set<uint32_t>(5, 2);
  expect_refused(beyond, Code::corrupt, "contents that do not exist");
  Sum cut;
  cut.state_offsets[1] = 1;
  expect_refused(cut, Code::corrupt, "runs past the end of its segment");
  Sum far;
  far.finish().segments->items.back()->set<uint64_t>(1, uint64_t{1} << 40);
  expect_refused(far, Code::corrupt, "lie outside the file");
  Sum two;
  two.finish();
  two.program->child(6).items.push_back(new_table());
  expect_refused(two, Code::unsupported, "more than one segment");
  Sum wrong_return;
  wrong_return.call(
      "aten::copy_", "",
      {wrong_return.state_value, wrong_return.sum, wrong_return.boolean(false), wrong_return.sum});
  expect_refused(wrong_return, Code::corrupt, "not its out argument");
}

}  // namespace
}  // namespace deuteron

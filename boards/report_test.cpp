// SPDX-License-Identifier: Apache-2.0
// What the user reads, for each line that a runner can end with.
#include "boards/report.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace deuteron {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

Diagnostic after(BoardExit code, const std::vector<std::string>& lines,
                 EmulatedRun* run = nullptr) {
  BoardReport report;
  EmulatedRun own;
  for (const std::string& line : lines) take_line(line, report, run ? *run : own);
  ProcessEnd end;
  end.exit_code = static_cast<int>(code);
  return describe_end("mps2-an385", {}, end, report, {}, 30);
}

TEST(BoardReport, AMissingKernelIsNamed) {
  const Diagnostic d =
      after(BoardExit::load_failed, {"@board mps2-an385 isa scalar",
                                     "@status missing_kernel instruction 3 argument -1 needed 0 op "
                                     "aten::erf detail no kernel of this name"});
  EXPECT_EQ(d.where, "qemu:mps2-an385");
  EXPECT_EQ(d.rule, "board.load.missing_kernel");
  EXPECT_EQ(d.what,
            "the runtime refuses the program: missing_kernel, `aten::erf`, instruction 3: no "
            "kernel of this name");
}

TEST(BoardReport, ABadArgumentIsPlaced) {
  const Diagnostic d =
      after(BoardExit::load_failed,
            {"@board b isa scalar",
             "@status bad_argument instruction 0 argument 11 needed 0 op cortex_m::pad detail -"});
  EXPECT_EQ(
      d.what,
      "the runtime refuses the program: bad_argument, `cortex_m::pad`, instruction 0, argument 11");
}

TEST(BoardReport, AFailingDelegateIsNamedWithItsStep) {
  const Diagnostic d =
      after(BoardExit::run_failed, {"@board b isa dsp", "@load 5",
                                    "@status delegate_failed instruction 2 argument -1 needed 0 "
                                    "step run error 19787 op NeutronBackend detail "
                                    "the driver: timeout"});
  EXPECT_EQ(d.what,
            "a delegate fails: delegate_failed, `NeutronBackend`, instruction 2, step `run`, error "
            "0x4d4b (component 3, category 9, code "
            "77): the driver: timeout");
  EXPECT_EQ(d.rule, "board.run.delegate_failed");
}

TEST(BoardReport, AnotherInstructionSetSaysWhatToDo) {
  const Diagnostic d =
      after(BoardExit::load_failed,
            {"@board b isa scalar",
             "@status wrong_isa instruction -1 argument -1 needed 0 op - detail made for mve"});
  EXPECT_EQ(d.what, "the runtime refuses the program: wrong_isa: made for mve");
  EXPECT_THAT(d.fix, HasSubstr("compile for the core of this board"));
}

TEST(BoardReport, ABoardWithoutTheNpuNamesThoseThatHaveIt) {
  const auto missing = [](std::string_view backend) {
    return after(BoardExit::load_failed,
                 {"@board b isa dsp",
                  fmt::format("@status missing_backend instruction 1 argument -1 needed 0 op {} "
                              "detail no backend of this name is linked in",
                              backend)});
  };
  EXPECT_THAT(missing("NeutronBackend").fix, HasSubstr("(qemu:mps2-an505 (cortex-m33))"));
  EXPECT_THAT(missing("XnnpackBackend").fix, Not(HasSubstr("mps2-an505")));
}

TEST(BoardReport, WhatDoesNotFitComesWithAllSizes) {
  const Diagnostic d =
      after(BoardExit::does_not_fit, {"@memory planned 18000000 program 4000001 planned 18000000 "
                                      "tables 64000 board 16777216 3145728"});
  EXPECT_EQ(d.rule, "board.memory");
  EXPECT_EQ(d.measured, "22064001 bytes");
  EXPECT_EQ(d.limit, "19922944 bytes");
  EXPECT_THAT(
      d.what,
      HasSubstr("program 4000001, planned 18000000, tables 64000; memory 16777216 + 3145728"));
}

TEST(BoardReport, AFaultSaysWhereAndWhy) {
  const std::string fault =
      "@fault BusFault pc 0x00000812 lr 0x000006d9 cfsr 0x00008200 hfsr 0x00000000 address "
      "0xf0000000 stack good";
  const Diagnostic loading = after(BoardExit::fault, {"@board b isa scalar", fault});
  EXPECT_THAT(
      loading.what,
      HasSubstr("BusFault while the program was loaded: data access failed at PC 0x00000812"));
  const Diagnostic running =
      after(BoardExit::fault, {"@board b isa scalar", "@load 12", "@enter 3 cortex_m::pad", fault});
  EXPECT_THAT(running.what, HasSubstr("in call 3 cortex_m::pad"));
  EXPECT_THAT(running.what, HasSubstr("address 0xf0000000"));
}

TEST(BoardReport, TheEmulatorsOwnTextIsPassedOn) {
  const Diagnostic d =
      after(static_cast<BoardExit>(1), {"qemu-system-arm: warning: nic lan9118.0 has no peer",
                                        "qemu-system-arm: cannot set up guest memory"});
  EXPECT_EQ(d.rule, "board.emulator");
  EXPECT_EQ(d.what,
            "the emulator ended with code 1 before the runner started: qemu-system-arm: cannot set "
            "up guest memory");
}

TEST(BoardReport, FiguresAreTaken) {
  EmulatedRun run;
  after(BoardExit::done,
        {"@board b isa mve", "@needs planned 50192 tables 4096", "@load 173000", "@output 0 40",
         "@enter 0 a::b", "@step 0 700 a::b", "@enter 1 c::d", "@step 1 5000000000 c::d",
         "@sample 0 5000000700 npu 40000000", "@stack 1388 65536"},
        &run);
  EXPECT_EQ(run.planned_bytes, 50192u);
  EXPECT_EQ(run.tables_bytes, 4096u);
  EXPECT_EQ(run.load_instructions, 173000u);
  ASSERT_EQ(run.instructions, std::vector<uint64_t>{5000000700u});
  EXPECT_EQ(run.npu_instructions, std::vector<uint64_t>{40000000u});
  ASSERT_EQ(run.steps.size(), 1u);
  ASSERT_EQ(run.steps[0].size(), 2u);
  EXPECT_EQ(run.steps[0][1].op, "c::d");
  EXPECT_EQ(run.steps[0][1].instructions, 5000000000u);
  EXPECT_EQ(run.stack_used_bytes, 1388u);
}

}  // namespace
}  // namespace deuteron

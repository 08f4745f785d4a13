// SPDX-License-Identifier: Apache-2.0
// Cycles: every instruction of a call is counted once, and what is priced is what ran.
#include "boards/cycles/estimate_cycles.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "boards/board.h"
#include "boards/cycles/price_blocks.h"
#include "boards/emulate.h"
#include "npu/neutron/delegate/test_network.h"

namespace deuteron {
namespace {

using ::testing::HasSubstr;

std::span<const uint8_t> bytes_of(std::string_view text) {
  return {reinterpret_cast<const uint8_t*>(text.data()), text.size()};
}

TEST(Cycles, WhatTheModelsOfLlvmLeaveOutIsAdded) {
  struct {
    const char *core, *instruction;
    double extra;
    bool is_for_mca;
  } const cases[] = {
      {"cortex-m55", "le lr, 0x10", 0, false},
      {"cortex-m55", "letp\tlr, 0x10", 0, false},
      {"cortex-m55", "dlstp.8 lr, r2", 1, false},
      {"cortex-m33", "vrintr.f32 s0, s0", 1, false},
      {"cortex-m55", "vrintn.f32 q0, q1", 0, true},
      {"cortex-m4", "itet\tne", 1, false},
      {"cortex-m4", "it eq", 1, false},
      {"cortex-m55", "vldrb.u8 q0, [r0], #16", 0, true},
      {"cortex-m55", "vldrw.u32 q0, [r1, q3]", 2, true},
      {"cortex-m55", "vldrw.u32 q0, [q3, #4]", 2, true},
      {"cortex-m55", "vstrb.32 q0, [r1, q3]", 2, true},
      {"cortex-m4", "vldr s0, [r1]", 0, true},
      {"cortex-m4", "ldrd r0, r1, [r2]", 2, true},
      {"cortex-m33", "ldrd r0, r1, [r2]", 1, true},
      {"cortex-m7", "ldrd r0, r1, [r2]", 0, true},
      {"cortex-m4", "ldm.w r0!, {r1, r2, r3}", 3, true},
      {"cortex-m33", "ldm.w r0!, {r1, r2, r3}", 2, true},
      {"cortex-m7", "ldm.w r0!, {r1, r2, r3}", 0, true},
      {"cortex-m4", "pop {r4, r5}", 2, true},
      {"cortex-m4", "pop.w {r4, r5, pc}", 5, true},
      {"cortex-m4", "bne.w 0x100", 2, false},
      {"cortex-m4", "bl 0x100 <function>", 2, false},
      {"cortex-m4", "bx lr", 2, false},
      {"cortex-m4", "cbnz r0, 0x20", 2, false},
      {"cortex-m4", "tbb [pc, r0]", 2, false},
      {"cortex-m4", "ldr pc, [r0]", 2, false},
      {"cortex-m4", "bic r0, r1, #4", 0, true},
      {"cortex-m4", "bfi r0, r1, #4, #4", 0, true},
      {"cortex-m4", "smlad r0, r1, r2, r3", 0, true},
  };
  for (const auto& c : cases) {
    const InstructionPrice price = price_outside_mca(*find_core(c.core), c.instruction);
    EXPECT_EQ(price.extra, c.extra) << c.core << ": " << c.instruction;
    EXPECT_EQ(price.is_for_mca, c.is_for_mca) << c.core << ": " << c.instruction;
  }
}

TEST(Cycles, CountsThatAreNoneAreRefused) {
  for (const char* text : {"", "end\n", "end\nend\nend\n", "8000 1 end\n", "8000 3 7\n",
                           "8000 3 7 9\nend\nend\n", "zz 3 7\nend\nend\n"}) {
    Diagnostics d;
    EXPECT_FALSE(estimate_cycles(core_models()[0], {}, bytes_of(text), 1, {"one", "two"}, d))
        << text;
    ASSERT_EQ(d.list().size(), 1u) << text;
    EXPECT_EQ(d.list()[0].rule, "cycles.marks");
  }
}

class CyclesOnBoard : public ::testing::TestWithParam<Board> {};
INSTANTIATE_TEST_SUITE_P(, CyclesOnBoard, ::testing::ValuesIn(boards_with_npu()),
                         [](const auto& info) {
                           std::string name(info.param.name);
                           std::erase(name, '-');
                           return name;
                         });

// Two samples through a network with two calls of the NPU: what plays it is not among the
// instructions, and each sample is one of two.
TEST_P(CyclesOnBoard, EachInstructionIsCountedOnce) {
  if (!has_board_runners())
    GTEST_SKIP() << "left out: emulated boards (built without the cross compiler)";
  test::NeutronNetwork n(false);
  std::vector<uint8_t> x(24);
  for (size_t i = 0; i < 24; ++i) x[i] = static_cast<uint8_t>(29 * i);
  const std::vector<Sample> samples = {{x}, {x}};
  const EmulatedRun plain = run_emulated(GetParam().name, n.p.bytes(), samples, {.by_step = true});
  if (plain.error.rule == "board.qemu_missing")
    GTEST_SKIP() << "left out: emulated boards (" << plain.error.what << ")";
  ASSERT_TRUE(plain.ok) << format_diagnostic(plain.error);
  const EmulatedRun marked =
      run_emulated(GetParam().name, n.p.bytes(), samples, {.count_blocks = true});
  ASSERT_TRUE(marked.ok) << format_diagnostic(marked.error);
  EXPECT_EQ(marked.outputs, plain.outputs);
  ASSERT_EQ(marked.steps.size(), 2u);
  std::vector<std::string> calls;
  for (const StepCount& s : marked.steps[0]) calls.push_back(s.op);
  const CoreModel& core = *find_core(GetParam().target.substr(0, GetParam().target.find('+')));
  Diagnostics d;
  const std::optional<CycleEstimate> e = estimate_cycles(core, GetParam().image, marked, d);
  if (!d.list().empty() && d.list()[0].what.find("is not installed") != std::string::npos)
    GTEST_SKIP() << "left out: estimated cycles (" << d.list()[0].what << ")";
  ASSERT_TRUE(e) << format_diagnostic(d.list()[0]);
  ASSERT_EQ(e->calls.size(), calls.size());
  uint64_t instructions = 0;
  double cycles = 0;
  for (size_t k = 0; k < calls.size(); ++k) {
    EXPECT_EQ(e->calls[k].name, calls[k]);
    // The blocks with the marks are counted whole or not at all; the two pauses around a played NPU
    // are further blocks.
    EXPECT_NEAR(static_cast<double>(e->calls[k].instructions),
                static_cast<double>(plain.steps[0][k].instructions), 40)
        << k;
    EXPECT_GE(e->calls[k].cycles, 0.4 * static_cast<double>(e->calls[k].instructions))
        << "no core here starts three at once";
    EXPECT_LE(e->calls[k].cycles, 6 * static_cast<double>(e->calls[k].instructions))
        << "short calls are branches and loads";
    instructions += e->calls[k].instructions, cycles += e->calls[k].cycles;
  }
  EXPECT_NEAR(static_cast<double>(instructions), static_cast<double>(e->whole.instructions),
              static_cast<double>(calls.size()));
  EXPECT_NEAR(cycles, e->whole.cycles, 1e-6 * cycles);
  double of_functions = 0;
  for (const CycleCount& f : e->functions) of_functions += f.cycles;
  EXPECT_NEAR(of_functions, cycles, 1e-6 * cycles);
  EXPECT_EQ(e->not_priced, 0u);
}

// Of the board's counts, call by call: a line of 4 bytes of constants that takes N cycles.
TEST_P(CyclesOnBoard, MemoriesMayAnswerLate) {
  if (!has_board_runners())
    GTEST_SKIP() << "left out: emulated boards (built without the cross compiler)";
  test::NeutronNetwork n(false);
  const std::vector<Sample> samples = {{std::vector<uint8_t>(24, 7)}};
  const auto counts = [&](uint32_t of_constants, uint32_t of_variables) {
    EmulateOptions options;
    options.count_blocks = true;
    options.waits = MemoryWaits{{of_constants, 4}, {of_variables, 4}};
    return run_emulated(GetParam().name, n.p.bytes(), samples, options);
  };
  const EmulatedRun at_once = counts(0, 0), late = counts(1, 0), later = counts(3, 0),
                    tensors = counts(0, 1);
  if (at_once.error.rule == "board.qemu_missing")
    GTEST_SKIP() << "left out: emulated boards (" << at_once.error.what << ")";
  for (const EmulatedRun* run : {&at_once, &late, &later, &tensors})
    ASSERT_TRUE(run->ok) << format_diagnostic(run->error);
  const uint64_t lines = late.instructions[0] - at_once.instructions[0];
  EXPECT_GT(lines, 0u);
  EXPECT_EQ(later.instructions[0] - at_once.instructions[0], 3 * lines);
  EXPECT_GT(tensors.instructions[0], at_once.instructions[0]);
  EXPECT_EQ(
      run_emulated(GetParam().name, n.p.bytes(), samples, {.count_blocks = true}).instructions,
      at_once.instructions);
}

}  // namespace
}  // namespace deuteron

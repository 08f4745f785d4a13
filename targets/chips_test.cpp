// SPDX-License-Identifier: Apache-2.0
// Every row of boards/chips.txt is a target that can be compiled for, and a memory that a program
// can be put into.
#include "targets/chips.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "targets/target.h"

namespace deuteron {
namespace {

using testing::AnyOf;
using testing::HasSubstr;

TEST(Chips, EveryRowIsATarget) {
  EXPECT_GE(all_chips().size(), 30u);
  for (const Chip& c : all_chips()) {
    Diagnostics diagnostics;
    const std::optional<Target> t = find_target(c.name, diagnostics);
    ASSERT_TRUE(t.has_value()) << c.name << ": " << format_diagnostic(diagnostics.list().front());
    const std::optional<Target> core = find_target(c.core, diagnostics);
    ASSERT_TRUE(core.has_value()) << c.name;
    EXPECT_EQ(t->isa, core->isa) << c.name;
    EXPECT_EQ(t->clock_hz, c.highest_clock_hz()) << c.name;
    if (!c.flash.empty()) { EXPECT_EQ(t->memories.back().wait_states, c.waits.states) << c.name; }
    EXPECT_EQ(t->memories.front().wait_states, c.ram_waits.states) << c.name;
    EXPECT_EQ(t->memories.size(), c.flash.empty() ? 1u : 2u) << c.name;
    EXPECT_TRUE(c.ran == "emulated" || c.ran == "protocol only" || c.ran == "never run") << c.name;
    EXPECT_FALSE(c.source.empty()) << c.name;
  }
}

// Of boards/agent/deuteron_agent_uart.h.
TEST(Chips, ConsolesHaveKnownRegisters) {
  size_t known = 0;
  for (const Chip& c : all_chips()) {
    if (c.console.name.empty()) continue;
    ++known;
    EXPECT_THAT(c.console.registers,
                AnyOf("stm32_1", "stm32_2", "nrf", "pl011", "sercom", "kinetis"))
        << c.name;
    EXPECT_EQ(c.console.base >> 28, 4u) << c.name;  // the peripherals' region
    EXPECT_NE(c.console.tx, c.console.rx) << c.name;
  }
  EXPECT_GE(known, 30u);
}

TEST(Chips, RegionsAreWholeAndApart) {
  for (const Chip& c : all_chips()) {
    std::vector<ChipRegion> all = c.ram;
    all.insert(all.end(), c.flash.begin(), c.flash.end());
    ASSERT_FALSE(c.ram.empty()) << c.name;
    std::ranges::sort(all, {}, &ChipRegion::base);
    for (size_t k = 0; k < all.size(); ++k) {
      EXPECT_GE(all[k].bytes, 1024u) << c.name;
      EXPECT_EQ(all[k].base % 1024, 0u) << c.name;
      if (k == 0) continue;
      EXPECT_LE(uint64_t{all[k - 1].base} + all[k - 1].bytes, all[k].base) << c.name;
    }
  }
}

TEST(Chips, FamiliesThatPeopleOwnAreThere) {
  for (const char* family :
       {"stm32f0",  "stm32f1",  "stm32f3",  "stm32f4", "stm32f7",    "stm32g4",    "stm32h5",
        "stm32h7",  "stm32l4",  "stm32u5",  "stm32n6", "nrf52840",   "nrf5340",    "nrf54l",
        "rp2040",   "rp2350",   "atsamd51", "mcxn947", "mimxrt1060", "mimxrt1170", "amap4",
        "ae722f80", "ae822fa0", "pse84",    "ra8"})
    EXPECT_FALSE(chips_called(family).empty()) << family;
}

TEST(Chips, AnNpuThatIsNotUsedIsNamed) {
  Diagnostics diagnostics;
  EXPECT_THAT(find_target("mcxn947", diagnostics)->description,
              HasSubstr("its Neutron N1-16 is not used"));
}

TEST(Chips, NamesMayBeCutShort) {
  ASSERT_NE(find_chip("STM32F446"), nullptr);
  EXPECT_EQ(find_chip("STM32F446")->name, "stm32f446re");
  EXPECT_EQ(find_chip("stm32f4"), nullptr);
  EXPECT_GT(chips_called("stm32f4").size(), 1u);
  EXPECT_EQ(find_chip("stm32f446ze"), nullptr);
  EXPECT_EQ(text_of(find_chip("stm32f446")->ram), "0x20000000+128K");
}

}  // namespace
}  // namespace deuteron

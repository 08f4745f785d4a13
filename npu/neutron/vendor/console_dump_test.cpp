// SPDX-License-Identifier: Apache-2.0
#include "npu/neutron/vendor/console_dump.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "npu/neutron/vendor/test_dump.h"

namespace deuteron::neutron {
namespace {

using testing::ElementsAre;

TestDump small() {
  TestDump d;
  d.constants = {"w", "b"};
  d.model = {{"PAD", {"x", "paddings"}, {"p"}}, {"CONV_2D", {"p", "w", "b"}, {"c"}}};
  d.rows = {{{"Pad", "Conv2DStandardV2"}, d.model, {"x", "w", "b"}, {"c"}}};
  d.calls = {"Pad", "Conv2DStandardV2 0x40"};
  return d;
}

TEST(NeutronConsoleDump, EveryPart) {
  const ConsoleDump dump = read_console_dump(small().text());
  EXPECT_EQ(dump.graphs, 2);
  EXPECT_THAT(dump.whole_graphs, ElementsAre(99));
  ASSERT_EQ(dump.imported.size(), 2u);
  EXPECT_EQ(dump.imported[1].type, "CONV_2D");
  EXPECT_THAT(dump.imported[1].inputs, ElementsAre("p", "w", "b"));
  EXPECT_EQ(dump.imported[1].location, 1);
  EXPECT_TRUE(dump.constant.at("w"));
  ASSERT_EQ(dump.extracted.size(), 1u);
  EXPECT_THAT(dump.extracted[0].operators, ElementsAre("PAD", "CONV_2D"));
  EXPECT_THAT(dump.extracted[0].kernels, ElementsAre("Pad", "Conv2DStandardV2"));
  EXPECT_EQ(dump.kernel_calls, 2);
  ASSERT_EQ(dump.calls.size(), 2u);
  EXPECT_EQ(dump.calls[1].kernel, "Conv2DStandardV2");
  EXPECT_EQ(dump.calls[1].constants, "(Consts + 0x40) ;");  // over the end of a line
  ASSERT_EQ(dump.generated.size(), 1u);
  EXPECT_THAT(dump.generated[0].outputs, ElementsAre("c"));
  EXPECT_EQ(dump.generated[0].nodes.size(), 2u);
}

TEST(NeutronConsoleDump, LinesOfAnyEndAndIndentation) {
  std::string text;
  for (const char c : small().text()) text += c == '\n' ? "\r\n   \t" : std::string(1, c);
  const ConsoleDump dump = read_console_dump(text);
  EXPECT_EQ(dump.imported.size(), 2u);
  EXPECT_EQ(dump.calls.size(), 2u);
  EXPECT_EQ(dump.generated.size(), 1u);
}

// Without places, in colours, with numbers in another form, with a log between the lines.
TEST(NeutronConsoleDump, OtherForms) {
  std::string text = small().text(), other;
  for (size_t at = 0; (at = text.find("      Location: ")) != text.npos;)
    text.erase(at, text.find('\n', at) + 1 - at);
  const size_t calls = text.find("numKernelCalls   0x2");
  ASSERT_NE(calls, text.npos);
  text.replace(calls, 20, "numKernelCalls = 2");
  for (const char c : text)
    other += c == '\n' ? "\x1b[0m\n12:00:01 INFO pass: done\n\x1b[1;32m" : std::string(1, c);
  const ConsoleDump dump = read_console_dump(other);
  EXPECT_EQ(dump.kernel_calls, 2);
  ASSERT_EQ(dump.imported.size(), 2u);
  EXPECT_THAT(dump.imported[1].inputs, ElementsAre("p", "w", "b"));
  EXPECT_EQ(dump.imported[1].location, -1);
  ASSERT_EQ(dump.extracted.size(), 1u);
  EXPECT_THAT(dump.extracted[0].kernels, ElementsAre("Pad", "Conv2DStandardV2"));
  EXPECT_FALSE(dump.extracted[0].is_read);  // the microcode must say the same
  ASSERT_EQ(dump.generated.size(), 1u);
  EXPECT_EQ(dump.generated[0].nodes.size(), 2u);
}

// A tensor has a type too, and a graph a name.
TEST(NeutronConsoleDump, TensorsAreNoOperators) {
  const ConsoleDump dump = read_console_dump(
      "Graphs:\n Name: t\n Kind: Variable\n Type: INT8\n Shape: [1,2]\n Name: u\n Kind: Constant\n "
      "Type: CONV_2D\n Inputs:\n [0]: t "
      "(INT8)\n "
      "Outputs:\n [0]: y\n Location: 0\n");
  ASSERT_EQ(dump.imported.size(), 1u);
  EXPECT_THAT(dump.imported[0].inputs, ElementsAre("t"));
  EXPECT_FALSE(dump.constant.at("t"));
  EXPECT_TRUE(dump.constant.at("u"));
}

TEST(NeutronConsoleDump, Versions) {
  EXPECT_EQ(version_in("eIQ neutron-converter.exe version 2.0.2+0X0cebb80a\n"), "2.0.2");
  EXPECT_EQ(version_in("Neutron Converter Version: 3.1.3\n"), "3.1.3");
  EXPECT_EQ(version_in("version\nconversion 5\n"), "");
  EXPECT_EQ(version_in(""), "");
}

// Whatever is cut off or doubled: no fault, and never more than was there.
TEST(NeutronConsoleDump, AnyPartOfAText) {
  const std::string text = small().text();
  const ConsoleDump whole = read_console_dump(text);
  for (size_t n = 0; n <= text.size(); ++n) {
    const ConsoleDump first = read_console_dump(text.substr(0, n)),
                      last = read_console_dump(text.substr(n));
    EXPECT_LE(first.imported.size(), whole.imported.size());
    EXPECT_LE(last.generated.size(), whole.generated.size() + 1);
  }
}

}  // namespace
}  // namespace deuteron::neutron

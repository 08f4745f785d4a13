// SPDX-License-Identifier: Apache-2.0
// Kernel selections: written, read, merged, compiled.
#include "npu/neutron/converter/kernel_selection.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace deuteron::neutron {
namespace {

using testing::HasSubstr;
using testing::Not;

KernelSelection some() { return {kFormatTag, {Kind::kConv2DPointwise, Kind::kAdd, Kind::kMemCpy}}; }

TEST(NeutronKernelSelection, IsReadAsItWasWritten) {
  for (const KernelSelection& s : {some(), KernelSelection{}}) {
    Diagnostics d;
    const auto r = read_kernel_selection(write_kernel_selection(s), "k.c", d);
    ASSERT_TRUE(r);
    EXPECT_EQ(*r, s);
  }
  EXPECT_THAT(write_kernel_selection(some()), HasSubstr("  [18] = neutron_kernel_Add,\n"));
  EXPECT_THAT(write_kernel_selection(some()), Not(HasSubstr("neutron_kernel_Softmax")));
}

TEST(NeutronKernelSelection, Merges) {
  const KernelSelection a = some(), b{kFormatTag, {Kind::kAdd, Kind::kSoftmax}};
  const std::string files[] = {"a.c", "b.c"};
  Diagnostics d;
  const auto r = merge_kernel_selections(std::vector{a, b}, files, d);
  ASSERT_TRUE(r);
  EXPECT_EQ(r->kinds,
            (std::set{Kind::kConv2DPointwise, Kind::kAdd, Kind::kMemCpy, Kind::kSoftmax}));
  KernelSelection other = b;
  other.version += 1 << 24;
  EXPECT_FALSE(merge_kernel_selections(std::vector{a, other}, files, d));
  EXPECT_EQ(d.list().at(0).rule, "neutron.selection.mixed");
  EXPECT_EQ(d.list()[0].where, "b.c");
}

TEST(NeutronKernelSelection, WhatIsDamagedIsRefused) {
  const std::string good = write_kernel_selection(some());
  const auto rule_of = [](std::string text) {
    Diagnostics d;
    EXPECT_FALSE(read_kernel_selection(text, "k.c", d));
    return d.list().empty() ? "" : d.list()[0].rule;
  };
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string text = good;
    text.replace(text.find(from), from.size(), to);
    return text;
  };
  EXPECT_EQ(rule_of(""), "neutron.selection.file");
  EXPECT_EQ(rule_of("int main() {}"), "neutron.selection.file");
  EXPECT_EQ(rule_of(good.substr(0, good.size() - 4)), "neutron.selection.file");
  EXPECT_EQ(rule_of(with("version 0", "version x")), "neutron.selection.version");
  EXPECT_EQ(rule_of(with("[18] = neutron_kernel_Add", "[19] = neutron_kernel_Add")),
            "neutron.selection.entry");
  EXPECT_EQ(rule_of(with("[18] = neutron_kernel_Add", "[99] = neutron_kernel_Add")),
            "neutron.selection.entry");
  EXPECT_EQ(rule_of(with("[18] = neutron_kernel_Add", "something else")),
            "neutron.selection.entry");
  for (size_t n = 0; n < good.size(); ++n) {
    Diagnostics d;
    const auto r = read_kernel_selection(std::string_view(good).substr(0, n), "k.c", d);
    EXPECT_TRUE(r || d.has_errors());
  }
}

TEST(NeutronKernelSelection, Compiles) {
  if (std::system("command -v cc >/dev/null 2>&1") != 0)
    GTEST_SKIP() << "no C compiler: the file is not compiled";
  const auto file = std::filesystem::temp_directory_path() /
                    ("deuteron_selection_" + std::to_string(getpid()) + ".c");
  for (const KernelSelection& s : {some(), KernelSelection{}}) {
    std::ofstream(file) << write_kernel_selection(s);
    EXPECT_EQ(
        std::system(("cc -std=c99 -Wall -Wextra -Werror -fsyntax-only " + file.string()).c_str()),
        0);
  }
  std::filesystem::remove(file);
}

}  // namespace
}  // namespace deuteron::neutron

// SPDX-License-Identifier: Apache-2.0
#include "write/firmware/kernel_list.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace deuteron {
namespace {

using testing::HasSubstr;

KernelList some() {
  return {{{"cortex_m::pad.out", {"resnet8", "digits"}}, {"aten::abs.out", {}}},
          {{"Conv2DPointwise", {"resnet8"}}},
          neutron::kFormatTag};
}

TEST(KernelList, IsReadAsItWasWritten) {
  for (const KernelList& list :
       {some(), KernelList{}, KernelList{{{"a::b.out", {"m"}}}, {}, std::nullopt}}) {
    Diagnostics d;
    const std::string text = write_kernel_list(list);
    EXPECT_TRUE(is_kernel_list(text));
    const auto r = read_kernel_list(text, "k.sel", d);
    ASSERT_TRUE(r);
    EXPECT_EQ(*r, list);
  }
  EXPECT_THAT(
      write_kernel_list(some()),
      HasSubstr("\ncortex_m::pad.out  # digits resnet8\nneutron::Conv2DPointwise  # resnet8\n"));
}

TEST(KernelList, APlainListHasNoModelsInItsComments) {
  Diagnostics d;
  const auto r = read_kernel_list("# mine\n\n  cortex_m::pad.out # fast\r\nneutron::Add", "k", d);
  ASSERT_TRUE(r);
  EXPECT_EQ(*r, (KernelList{{{"cortex_m::pad.out", {}}}, {{"Add", {}}}, std::nullopt}));
}

TEST(KernelList, Merges) {
  Diagnostics d;
  KernelList all = some();
  ASSERT_TRUE(merge_kernel_list(
      all, {{{"cortex_m::pad.out", {"kws"}}, {"cortex_m::softmax.out", {"kws"}}}, {}, std::nullopt},
      "b", d));
  EXPECT_EQ(all.cpu.at("cortex_m::pad.out"), (KernelList::Users{"digits", "kws", "resnet8"}));
  EXPECT_EQ(all.cpu.size(), 3u);
  EXPECT_EQ(all.machine, neutron::kFormatTag);
  EXPECT_FALSE(merge_kernel_list(all, {{}, {}, neutron::kFormatTag + 1}, "c.sel", d));
  EXPECT_EQ(d.list().at(0).rule, "firmware.machine");
  EXPECT_EQ(d.list()[0].where, "c.sel");
}

TEST(KernelList, WhatIsNoNameIsRefusedWithItsLine) {
  for (const char* wrong : {"quantized_add", "neutron::Conv3D", "neutron machine 12x",
                            "neutron machine", "cortex_m::.out", "a b::c.d"}) {
    Diagnostics d;
    EXPECT_FALSE(read_kernel_list(std::string("# x\n") + wrong + "\n", "k.sel", d)) << wrong;
    ASSERT_EQ(d.list().size(), 1u) << wrong;
    EXPECT_EQ(d.list()[0].where, "k.sel:2");
    EXPECT_EQ(d.list()[0].rule, "firmware.ops");
  }
}

}  // namespace
}  // namespace deuteron

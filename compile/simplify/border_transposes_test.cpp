// SPDX-License-Identifier: Apache-2.0
// Which transposes at the NPU's border become flags of the payload, and what the flags say.
#include "compile/simplify/border_transposes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compile/compilation.h"
#include "compile/options.h"
#include "ir/text.h"
#include "ir/verify.h"
#include "targets/target.h"

namespace deuteron {
namespace {

struct Moved {
  Graph body;
  BorderTransposes border;
};

// "@" stands for the usual parameters.
Moved moved(std::string text, FormatConversion by = FormatConversion::cheapest) {
  for (size_t at; (at = text.find('@')) != std::string::npos;)
    text.replace(at, 1, "q(scale=0.05 zero=0)");
  Diagnostics diagnostics;
  std::optional<Graph> g = parse(
      "source 0 \"turn\" \"aten.permute.default\"\nsource 1 \"back\" \"aten.permute.default\"\n" +
          text,
      "test", diagnostics);
  EXPECT_TRUE(g) << (diagnostics.list().empty() ? "" : format_diagnostic(diagnostics.list()[0]));
  if (!g) return {};
  Moved m{std::move(*g), {}};
  const Target target = *find_target("imxrt700cm", diagnostics);
  CompileOptions options;
  options.npu.format_conversion = by;
  Compilation result;
  i64 budget = 1000;
  PassContext context{m.body, target, {}, options, result, diagnostics, &budget};
  m.border = move_transposes_to_border(context, m.body);
  EXPECT_EQ(find_fault(m.body), std::nullopt) << print(m.body);
  return m;
}

size_t permutes(const Graph& g) {
  return static_cast<size_t>(std::ranges::count_if(
      g.nodes, [](const Node& n) { return std::holds_alternative<Permute>(n.op); }));
}

const Shape kNone;

constexpr const char* kSmall =
    "input x : s8[1,3,4,5] @\n"
    "a = permute(x) perm=0,2,3,1 : s8[1,4,5,3] @ from 0\n"
    "b = clamp(a) bounds=0,6 : s8[1,4,5,3] @\n"
    "y = permute(b) perm=0,3,1,2 : s8[1,3,4,5] @ from 1\n"
    "output y\n";
constexpr const char* kLarge =
    "input x : s8[1,3,64,64] @\n"
    "a = permute(x) perm=0,2,3,1 : s8[1,64,64,3] @\n"
    "y = max_pool2d(a) kernel=2,2 stride=2,2 : s8[1,32,32,3] @\n"
    "output y\n";

TEST(BorderTransposes, AFewBytesAreCheaperOnTheCpu) {
  const Moved m = moved(kSmall);
  EXPECT_EQ(permutes(m.body), 0u);
  EXPECT_THAT(m.border.inputs, testing::ElementsAre(Shape{1, 3, 4, 5}));
  EXPECT_THAT(m.border.outputs, testing::ElementsAre(Shape{1, 3, 4, 5}));
  EXPECT_EQ(m.body.type(m.body.inputs[0].value).shape, (Shape{1, 4, 5, 3}));
  EXPECT_EQ(m.body.type(m.body.outputs[0].value).shape, (Shape{1, 4, 5, 3}));
  ASSERT_EQ(m.body.folded.size(), 2u) << "the user's operators that are no kernel now";
  EXPECT_THAT(m.body.folded[0].reason, testing::HasSubstr("flag of the payload"));
}

TEST(BorderTransposes, ManyBytesAreCheaperOnTheNpu) {
  const Moved m = moved(kLarge);
  EXPECT_EQ(permutes(m.body), 1u);
  EXPECT_THAT(m.border.inputs, testing::ElementsAre(kNone));
}

TEST(BorderTransposes, TheOptionDecidesForAll) {
  EXPECT_EQ(permutes(moved(kLarge, FormatConversion::cpu).body), 0u);
  EXPECT_EQ(permutes(moved(kSmall, FormatConversion::npu).body), 2u);
}

TEST(BorderTransposes, OtherRanksAreSeenAsImages) {
  const Moved m = moved(
      "input x : s8[2,7,5] @\n"
      "a = permute(x) perm=0,2,1 : s8[2,5,7] @\n"
      "b = clamp(a) bounds=0,6 : s8[2,5,7] @\n"
      "c = clamp(b) bounds=0,3 : s8[2,5,7] @\n"
      "r = reshape(c) shape=2,5,1,7,1 : s8[2,5,1,7,1] @\n"
      "y = permute(r) perm=3,4,0,1,2 : s8[7,1,2,5,1] @\n"
      "output y\n");
  EXPECT_EQ(permutes(m.body), 0u);
  EXPECT_THAT(m.border.inputs, testing::ElementsAre(Shape{2, 7, 1, 5}));
  EXPECT_THAT(m.border.outputs, testing::ElementsAre(Shape{1, 7, 1, 10}))
      << "the batch moves along with what it lies beside";
}

TEST(BorderTransposes, BehindViews) {
  const Moved m = moved(
      "input x : s8[1,60] @\n"
      "i = reshape(x) shape=1,3,4,5 : s8[1,3,4,5] @\n"
      "a = permute(i) perm=0,2,3,1 : s8[1,4,5,3] @\n"
      "b = clamp(a) bounds=0,6 : s8[1,4,5,3] @\n"
      "p = permute(b) perm=0,3,1,2 : s8[1,3,4,5] @\n"
      "y = reshape(p) shape=60 : s8[60] @\n"
      "output y\n");
  EXPECT_EQ(m.body.nodes.size(), 1u) << print(m.body);
  EXPECT_THAT(m.border.inputs, testing::ElementsAre(Shape{1, 3, 1, 20}));
  EXPECT_THAT(m.border.outputs, testing::ElementsAre(Shape{1, 3, 1, 20}));
}

TEST(BorderTransposes, WhatAFlagCannotSayStays) {
  for (const char* text :
       {// three axes in another order
        "input x : s8[2,3,4,5] @\na = permute(x) perm=3,1,2,0 : s8[5,3,4,2] @\ny = clamp(a) "
        "bounds=0,6 : s8[5,3,4,2] @\noutput y\n",
        // the user's order is wanted too
        "input x : s8[1,3,4,5] @\na = permute(x) perm=0,2,3,1 : s8[1,4,5,3] @\ny = clamp(a) "
        "bounds=0,6 : s8[1,4,5,3] @\n"
        "z = clamp(x) bounds=0,6 : s8[1,3,4,5] @\noutput y\noutput z\n",
        "input x : s8[1,4,5,3] @\na = clamp(x) bounds=0,6 : s8[1,4,5,3] @\ny = permute(a) "
        "perm=0,3,1,2 : s8[1,3,4,5] @\noutput y\noutput "
        "a\n",
        // nothing would be left between input and output
        "input x : s8[1,3,4,5] @\ny = permute(x) perm=0,2,3,1 : s8[1,4,5,3] @\noutput y\n"}) {
    const Moved m = moved(text, FormatConversion::cpu);
    EXPECT_EQ(permutes(m.body), 1u) << text;
    EXPECT_THAT(m.border.inputs, testing::Each(kNone)) << text;
    EXPECT_THAT(m.border.outputs, testing::Each(kNone)) << text;
  }
}

TEST(BorderTransposes, OneOfTwoOutputsOfAValueIsTurned) {
  const Moved m = moved(
      "input x : s8[1,4,5,3] @\n"
      "a = clamp(x) bounds=0,6 : s8[1,4,5,3] @\n"
      "y = permute(a) perm=0,3,1,2 : s8[1,3,4,5] @\n"
      "z = permute(a) perm=0,3,1,2 : s8[1,3,4,5] @\n"
      "output y\n"
      "output z\n",
      FormatConversion::cpu);
  EXPECT_EQ(permutes(m.body), 1u);
  EXPECT_THAT(m.border.outputs, testing::ElementsAre(Shape{1, 3, 4, 5}, kNone));
}

// The NPU has no kernel for it, so there is next to nothing to save.
TEST(BorderTransposes, AMatrixProductKeepsItsOwn) {
  const Moved m = moved(
      "input x : s8[2,16,8] @\n"
      "input w : s8[2,24,16] @\n"
      "a = permute(x) perm=0,2,1 : s8[2,8,16] @\n"
      "y = matmul(a, w) : s8[2,8,24] @\n"
      "output y\n");
  EXPECT_EQ(permutes(m.body), 1u);
  EXPECT_THAT(m.border.inputs, testing::Each(kNone));
}

}  // namespace
}  // namespace deuteron

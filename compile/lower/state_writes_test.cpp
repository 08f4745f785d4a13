// SPDX-License-Identifier: Apache-2.0
#include "compile/lower/state_writes.h"

#include <gtest/gtest.h>

#include <string>

#include "base/diagnostic.h"
#include "compile/plan/homes.h"
#include "ir/states.h"
#include "ir/text.h"
#include "ir/verify.h"
#include "ops/families.h"

namespace deuteron {
namespace state_writes_test {

// How often `text` copies to its state `n`, of [2,4], with x of [2,1] and places p of [2,1].
int copies(const std::string& text) {
  Diagnostics diagnostics;
  auto g = parse(
      "source 0 \"n\" \"buffer_mutation\"\ninput x : f32[2,1]\ninput p : s64[2,1]\n"
      "input n : f32[2,4]\n" +
          text + "state f32[2,4] 0,0,0,0,0,0,0,0 from 0\n",
      "f.txt", diagnostics);
  EXPECT_TRUE(g) << (diagnostics.list().empty() ? "" : format_diagnostic(diagnostics.list()[0]));
  if (!g) return -1;
  write_states(*g, false);
  work_in_place(*g);
  EXPECT_EQ(find_fault(*g), std::nullopt);
  const Homes homes(*g);
  EXPECT_EQ(homes.of(g->state_outputs()[0].value).root, g->state_inputs()[0].value) << text;
  int count = 0;
  for (const Node& node : g->nodes)
    if (const KernelCall* call = call_of(node.op)) count += call->name == kStateWrite;
  return count;
}

// y = what is written into a at p.
std::string put(const std::string& y, const std::string& a, const std::string& value = "x",
                const std::string& extents = "2,1") {
  return y + " = call aten::scatter.src_out(" + a + ", p, " + value +
         ") args(in0[2,4], 1, in1[2,1], in2[" + extents + "], out0[2,4]) in_place=0:0 : f32[2,4]\n";
}
const char* const kResult = "output y\noutput a name=\"n\"\n";

TEST(StateWrites, InThePlaceOfTheState) {
  EXPECT_EQ(copies(put("a", "n") + "y = unary(a) fn=tanh\n" + kResult), 0);
  EXPECT_EQ(copies(put("b", "n") + put("a", "b") + "y = unary(a) fn=tanh\n" + kResult), 0);
  EXPECT_EQ(copies("v = reshape(n) shape=2,4\n" + put("b", "v") +
                   "a = reshape(b) shape=2,4\ny = unary(a) fn=tanh\n" + kResult),
            0);
}

TEST(StateWrites, CopiedWhereTheOldValueIsNeeded) {
  const std::string others[] = {
      put("a", "n") + "y = add(a, n)\n" + kResult,                  // read behind it
      put("b", "n") + put("a", "b") + "y = add(a, b)\n" + kResult,  // that in between
      put("a", "n") + "output n\noutput a name=\"n\"\n",            // an output
      "v = reshape(n) shape=8,1\n" + put("a", "n", "v", "8,1") +    // written itself
          "y = unary(a) fn=tanh\n" + kResult,
      "t = unary(n) fn=tanh\n" + put("a", "t") + "y = unary(a) fn=tanh\n" + kResult};
  for (const std::string& text : others) EXPECT_EQ(copies(text), 1) << text;
}

}  // namespace state_writes_test
}  // namespace deuteron

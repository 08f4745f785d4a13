// SPDX-License-Identifier: Apache-2.0
#include "compile/lower/shift_in.h"

#include <gtest/gtest.h>

#include "base/diagnostic.h"
#include "ir/states.h"
#include "ir/text.h"
#include "ir/verify.h"
#include "ops/families.h"

namespace deuteron {
namespace shift_in_test {

// What `text` writes to its state `n`, of [1,4,6], with x of [1,1,6] or [1,4,1].
std::string written(const std::string& text, const char* x = "1,1,6") {
  Diagnostics diagnostics;
  auto g = parse("source 0 \"n\" \"buffer_mutation\"\ninput x : f32[" + std::string(x) +
                     "]\ninput n : f32[1,4,6]\n" + text +
                     "state f32[1,4,6] 0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0 from 0\n",
                 "f.txt", diagnostics);
  EXPECT_TRUE(g) << (diagnostics.list().empty() ? "" : format_diagnostic(diagnostics.list()[0]));
  if (!g) return "";
  shift_into_states(*g);
  EXPECT_EQ(find_fault(*g), std::nullopt);
  const NodeId maker = Uses(*g).producer[g->state_outputs()[0].value];
  const KernelCall* call = call_of(g->nodes[maker].op);
  return call ? call->name : "something else";
}

TEST(ShiftIn, OfRowsAndOfColumns) {
  EXPECT_EQ(
      written("a = slice(n) axis=1 start=1 count=3\nb = concat(a, x) axis=1\ny = unary(b) fn=tanh\n"
              "output y\noutput b name=\"n\"\n"),
      kStateShift);
  EXPECT_EQ(
      written("a = concat(n, x) axis=2\nb = slice(a) axis=2 start=1 count=6\ny = unary(a) fn=tanh\n"
              "output y\noutput b name=\"n\"\n",
              "1,4,1"),
      kStateShift);
}

TEST(ShiftIn, NotWhereItWouldBeAnotherValue) {
  const char* const others[] = {// the last rows stay, not the first ones
                                "a = slice(n) axis=1 start=0 count=3\nb = concat(a, x) axis=1\ny = "
                                "unary(b) fn=tanh\noutput y\noutput b name=\"n\"\n",
                                // in front
                                "a = slice(n) axis=1 start=1 count=3\nb = concat(x, a) axis=1\ny = "
                                "unary(b) fn=tanh\noutput y\noutput b name=\"n\"\n",
                                // the old value is read behind it, through a view too
                                "a = slice(n) axis=1 start=1 count=3\nb = concat(a, x) axis=1\ny = "
                                "add(b, n)\noutput y\noutput b name=\"n\"\n",
                                "a = slice(n) axis=1 start=1 count=3\nc = slice(n) axis=1 start=0 "
                                "count=1\nb = concat(a, x) axis=1\ny = add(x, c)\noutput y\n"
                                "output b name=\"n\"\n",
                                // the old value is an output
                                "a = slice(n) axis=1 start=1 count=3\nb = concat(a, x) "
                                "axis=1\noutput n\noutput b name=\"n\"\n",
                                // what comes in is a part of it
                                "a = slice(n) axis=1 start=1 count=3\nc = slice(n) axis=1 start=0 "
                                "count=1\nb = concat(a, c) axis=1\ny = add(x, b)\noutput y\n"
                                "output b name=\"n\"\n"};
  for (const char* text : others) EXPECT_EQ(written(text), "something else") << text;
}

}  // namespace shift_in_test
}  // namespace deuteron

// SPDX-License-Identifier: Apache-2.0
#include "compile/cost/traffic.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ir/text.h"

namespace deuteron {
namespace {

using testing::ElementsAre;

// What the last call of a graph in text form reads of each operand, and what it writes.
struct Moved {
  std::vector<i64> read, written;
};
Moved moved_by(const std::string& text, Isa isa) {
  Diagnostics diagnostics;
  const std::optional<Graph> g = parse(text, "f.txt", diagnostics);
  for (const Diagnostic& d : diagnostics.list()) ADD_FAILURE() << format_diagnostic(d);
  if (!g) return {};
  const Traffic t = traffic_of(*g, g->nodes.back(), isa);
  Moved moved;
  for (const Bytes& b : t.inputs) moved.read.push_back(b.read);
  for (const Bytes& b : t.outputs) moved.written.push_back(b.written);
  return moved;
}

const char* const kSteps = " q(scale=0.5 zero=0)";

// A call on x, with weights of ones.
std::string layer(const std::string& kernel, const std::string& x, const std::string& w,
                  i64 weights, const std::string& y, i64 macs) {
  std::string ones = "1";
  for (i64 k = 1; k < weights; ++k) ones += ",1";
  return fmt::format(
      "input x : s8[{0}]{3}\nw = const s8[{1}]{3} {4}\n"
      "y = call {5}.out(x, w) args(in0[{0}], in1[{1}], [1,1], out0[{2}]) macs={6} : "
      "s8[{2}]{3}\noutput y\n",
      x, w, y, kSteps, ones, kernel, macs);
}

TEST(Traffic, AConvolutionReadsItsWindowsAndItsWeightsForEachTileOfThem) {
  // 3 x 5 places, windows of 18 elements, 4 filters
  const std::string text =
      layer("cortex_m::quantized_conv2d", "1,3,5,2", "4,3,3,2", 72, "1,3,5,4", 15 * 18 * 4);
  EXPECT_THAT(moved_by(text, Isa::mve).read,
              ElementsAre(15 * 18, 8 * 72));  // 15 windows, two at a time
  EXPECT_THAT(moved_by(text, Isa::dsp).read, ElementsAre(15 * 18, 4 * 72));
  EXPECT_THAT(moved_by(text, Isa::dsp).written, ElementsAre(60));
}

TEST(Traffic, ADepthwiseConvolutionReadsAByteForEachProduct) {
  const std::string text =
      layer("cortex_m::quantized_depthwise_conv2d", "1,3,5,2", "1,3,3,2", 18, "1,3,5,2", 15 * 18);
  EXPECT_THAT(moved_by(text, Isa::mve).read, ElementsAre(15 * 18, 18));
}

TEST(Traffic, ALinearLayerReadsItsWeightsForEachTileOfRows) {
  const std::string text = layer("cortex_m::quantized_linear", "9,8", "3,8", 24, "9,3", 9 * 3 * 8);
  EXPECT_THAT(moved_by(text, Isa::mve).read, ElementsAre(72, 5 * 24));
  EXPECT_THAT(moved_by(text, Isa::dsp).read, ElementsAre(72, 3 * 24));
}

TEST(Traffic, ARecurrentLayerReadsItsWeightsForEachTileOfSteps) {
  // 9 steps
  const std::string text = layer("deuteron::lstm", "9,8", "12,8", 96, "9,3", 9 * 12 * 8);
  EXPECT_THAT(moved_by(text, Isa::mve).read, ElementsAre(72, 5 * 96));
  EXPECT_THAT(moved_by(text, Isa::dsp).read, ElementsAre(72, 3 * 96));
}

TEST(Traffic, APoolReadsItsWindowsAndAnyOtherCallItsOperandsOnce) {
  const std::string x = "input x : s8[1,4,4,3] q(scale=0.5 zero=0)\n",
                    y = " : s8[1,2,2,3] q(scale=0.5 zero=0)\noutput y\n";
  EXPECT_THAT(moved_by(x +
                           "y = call cortex_m::quantized_avg_pool2d.out(x) args(in0[1,4,4,3], "
                           "[2,2], out0[1,2,2,3])" +
                           y,
                       Isa::mve)
                  .read,
              ElementsAre(12 * 4));
  const std::string add = layer("cortex_m::quantized_add", "1,3,5,2", "1,3,5,2", 30, "1,3,5,2", 0);
  EXPECT_THAT(moved_by(add, Isa::mve).read, ElementsAre(30, 30));
}

}  // namespace
}  // namespace deuteron

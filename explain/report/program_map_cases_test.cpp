// SPDX-License-Identifier: Apache-2.0
// Graphs whose map is easy to get wrong, each with the whole map that it must have: which kernels
// compute which operators, what was added
// (+), which operators need no kernel (-) and why.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "explain/report/test_map.h"

namespace deuteron {
namespace {

using test::map_of;
using test::to_text;

std::string npu(const std::string& text) { return to_text(map_of(text, "imxrt700cm")); }
std::string cpu(const std::string& text) { return to_text(map_of(text, "cortex-m33")); }

constexpr const char* kPools =
    "input x : f32[1,8,8,6] order=0,2,3,1\n"
    "max = max_pool2d(x) kernel=2,2 stride=2,2\n"
    "avg = avg_pool2d(x) kernel=2,2 stride=2,2\n"
    "cat = concat(max, avg) axis=3\n"
    "w = const f32[5,1,1,12] random(1)\n"
    "b = const f32[5] random(2)\n"
    "conv = conv2d(cat, w, b)\n"
    "output conv order=0,2,3,1\n";

TEST(MapCases, ParallelPoolsThenConcatenationThenConvolution) {
  EXPECT_EQ(npu(kPools),
            "0 quantize_per_tensor: max,avg +\n"
            "1 NeutronBackend: max,avg,cat,conv\n"
            "  MaxPool: max\n"
            "  AvgPool: avg\n"
            "  Conv2DPointwise: conv\n"
            "  - cat: CONCATENATION on the NPU: its parts are made in place\n"
            "2 dequantize_per_tensor: conv +\n");
  EXPECT_EQ(cpu(kPools),
            "0 quantize_per_tensor: max,avg +\n"
            "1 quantized_max_pool2d: max\n"
            "2 quantized_avg_pool2d: avg\n"
            "3 cat: cat\n"
            "4 quantized_conv2d: conv\n"
            "5 dequantize_per_tensor: conv +\n");
}

constexpr const char* kTwins =
    "input x : f32[1,6,7,3] order=0,2,3,1\n"
    "w = const f32[5,3,3,3] random(1)\n"
    "b = const f32[5] random(2)\n"
    "one = conv2d(x, w, b)\n"
    "two = conv2d(x, w, b)\n"
    "v = const f32[4,1,1,5] random(3)\n"
    "c = const f32[4] random(4)\n"
    "after = conv2d(one, v, c)\n"
    "output after order=0,2,3,1\n"
    "output two order=0,2,3,1\n";

// The larger output first: its int8 values need no room while the smaller one becomes float.
TEST(MapCases, TwoIdenticalConvolutionsOfOneInput) {
  EXPECT_EQ(npu(kTwins),
            "0 quantize_per_tensor: one,two +\n"
            "1 NeutronBackend: one,two,after\n"
            "  Conv2DStandardV2: one\n"
            "  Conv2DStandardV2: two\n"
            "  Conv2DPointwise: after\n"
            "2 dequantize_per_tensor: two +\n"
            "3 dequantize_per_tensor: after +\n");
  EXPECT_EQ(cpu(kTwins),
            "0 quantize_per_tensor: one,two +\n"
            "1 quantized_conv2d: one\n"
            "2 quantized_conv2d: two\n"
            "3 quantized_conv2d: after\n"
            "4 dequantize_per_tensor: two +\n"
            "5 dequantize_per_tensor: after +\n");
}

constexpr const char* kResidual =
    "input x : f32[1,6,7,8] order=0,2,3,1\n"
    "w = const f32[8,3,3,8] random(1)\n"
    "b = const f32[8] random(2)\n"
    "v = const f32[8,3,3,8] random(3)\n"
    "c = const f32[8] random(4)\n"
    "conv1 = conv2d(x, w, b) pad_before=1,1 pad_after=1,1\n"
    "relu1 = clamp(conv1) bounds=0,inf\n"
    "conv2 = conv2d(relu1, v, c) pad_before=1,1 pad_after=1,1\n"
    "sum = add(conv2, x)\n"
    "relu2 = clamp(sum) bounds=0,inf\n"
    "output relu2 order=0,2,3,1\n";

TEST(MapCases, AResidualBlock) {
  EXPECT_EQ(npu(kResidual),
            "0 quantize_per_tensor: conv1,sum +\n"
            "1 NeutronBackend: conv1,relu1,conv2,sum,relu2\n"
            "  Conv2DStandardV1: conv1,relu1\n"
            "  Conv2DAdd: conv2,sum,relu2\n"
            "2 dequantize_per_tensor: relu2 +\n");
  EXPECT_EQ(cpu(kResidual),
            "0 quantize_per_tensor: conv1,sum +\n"
            "1 quantized_conv2d: conv1,relu1\n"
            "2 quantized_conv2d: conv2\n"
            "3 quantized_add: sum,relu2\n"
            "4 dequantize_per_tensor: relu2 +\n");
}

constexpr const char* kGroups =
    "input x : f32[1,6,7,8] order=0,2,3,1\n"
    "w = const f32[6,3,3,4] random(1)\n"
    "b = const f32[6] random(2)\n"
    "conv = conv2d(x, w, b) groups=2\n"
    "relu = clamp(conv) bounds=0,inf\n"
    "output relu order=0,2,3,1\n";

TEST(MapCases, AGroupedConvolutionIsSplit) {
  EXPECT_EQ(npu(kGroups),
            "0 quantize_per_tensor: conv +\n"
            "1 NeutronBackend: conv,relu\n"
            "  Conv2DStandardV2: conv,relu\n"
            "  Conv2DStandardV2: conv,relu\n"
            "2 dequantize_per_tensor: relu +\n");
  EXPECT_EQ(cpu(kGroups),
            "0 quantize_per_tensor: conv +\n"
            "1 quantized_conv2d: conv,relu\n"
            "2 dequantize_per_tensor: relu +\n");
}

// The result of `conv` is read by two, and the module `block.conv` is called twice: two operators
// of one module.
constexpr const char* kTwice =
    "source 0 \"conv\" \"aten.conv2d.default\" module=\"block.conv\"\n"
    "source 1 \"conv_1\" \"aten.conv2d.default\" module=\"block.conv\"\n"
    "source 2 \"relu\" \"aten.relu.default\" module=\"block.relu\"\n"
    "source 3 \"add\" \"aten.add.Tensor\"\n"
    "input x : f32[1,6,7,5] order=0,2,3,1\n"
    "w = const f32[5,1,1,5] random(1)\n"
    "b = const f32[5] random(2)\n"
    "first = conv2d(x, w, b) : f32[1,6,7,5] from 0\n"
    "again = conv2d(first, w, b) : f32[1,6,7,5] from 1\n"
    "relu = clamp(first) bounds=0,inf : f32[1,6,7,5] from 2\n"
    "sum = add(again, relu) : f32[1,6,7,5] from 3\n"
    "output sum order=0,2,3,1\n";

TEST(MapCases, AModuleAndAResultUsedTwice) {
  EXPECT_EQ(npu(kTwice),
            "0 quantize_per_tensor: conv +\n"
            "1 NeutronBackend: conv,conv_1,relu,add\n"
            "  Conv2DPointwise: conv\n"
            "  Conv2DPointwise: conv_1\n"
            "  Table: relu\n"
            "  Add: add\n"
            "2 dequantize_per_tensor: add +\n");
  EXPECT_EQ(cpu(kTwice),
            "0 quantize_per_tensor: conv +\n"
            "1 quantized_conv2d: conv\n"
            "2 quantized_conv2d: conv_1\n"
            "3 quantized_activation: relu\n"
            "4 quantized_add: add\n"
            "5 dequantize_per_tensor: add +\n");
}

constexpr const char* kBetween =
    "input x : f32[1,6,7,8] order=0,2,3,1\n"
    "w = const f32[8,1,1,8] random(1)\n"
    "b = const f32[8] random(2)\n"
    "conv1 = conv2d(x, w, b)\n"
    "sin = unary(conv1) fn=sin\n"
    "conv2 = conv2d(sin, w, b)\n"
    "output conv2 order=0,2,3,1\n";

TEST(MapCases, TwoPartitionsWithAnOperatorOfTheCpuBetween) {
  EXPECT_EQ(npu(kBetween),
            "0 quantize_per_tensor: conv1 +\n"
            "1 NeutronBackend: conv1\n"
            "  Conv2DPointwise: conv1\n"
            "2 quantized_activation: sin\n"
            "3 NeutronBackend: conv2\n"
            "  Conv2DPointwise: conv2\n"
            "4 dequantize_per_tensor: conv2 +\n");
  EXPECT_EQ(cpu(kBetween),
            "0 quantize_per_tensor: conv1 +\n"
            "1 quantized_conv2d: conv1\n"
            "2 quantized_activation: sin\n"
            "3 quantized_conv2d: conv2\n"
            "4 dequantize_per_tensor: conv2 +\n");
}

constexpr const char* kPadded =
    "input x : f32[1,6,7,3] order=0,2,3,1\n"
    "pad = pad(x) before=0,1,2,0 after=0,2,1,0\n"
    "w = const f32[5,3,3,3] random(1)\n"
    "b = const f32[5] random(2)\n"
    "conv = conv2d(pad, w, b)\n"
    "output conv order=0,2,3,1\n";

TEST(MapCases, PaddingIsFolded) {
  EXPECT_EQ(npu(kPadded),
            "0 quantize_per_tensor: pad +\n"
            "1 NeutronBackend: pad,conv\n"
            "  Conv2DStandardV2: pad,conv\n"
            "2 dequantize_per_tensor: conv +\n");
  EXPECT_EQ(cpu(kPadded),
            "0 quantize_per_tensor: pad +\n"
            "1 quantized_conv2d: pad,conv\n"
            "2 dequantize_per_tensor: conv +\n");
}

constexpr const char* kConstants =
    "input x : f32[1,6,7,3] order=0,2,3,1\n"
    "w = const f32[5,1,1,3] random(1)\n"
    "v = const f32[5,1,1,3] random(2)\n"
    "weight = mul(w, v)\n"
    "b = const f32[5] random(3)\n"
    "conv = conv2d(x, weight, b)\n"
    "output conv order=0,2,3,1\n";

TEST(MapCases, AConstantPartIsFolded) {
  EXPECT_EQ(npu(kConstants),
            "0 quantize_per_tensor: conv +\n"
            "1 NeutronBackend: conv\n"
            "  Conv2DPointwise: conv\n"
            "2 dequantize_per_tensor: conv +\n"
            "- weight: folded into a constant\n");
  EXPECT_EQ(cpu(kConstants),
            "0 quantize_per_tensor: conv +\n"
            "1 quantized_conv2d: conv\n"
            "2 dequantize_per_tensor: conv +\n"
            "- weight: folded into a constant\n");
}

// Rows first to rows last is how an image lies in memory anyway: the permutes of the model cost
// nothing.
constexpr const char* kAbsorbed =
    "input x : f32[1,4,6,5]\n"
    "flip = permute(x) perm=0,2,3,1\n"
    "w = const f32[7,3,3,4] random(1)\n"
    "b = const f32[7] random(2)\n"
    "conv = conv2d(flip, w, b)\n"
    "output conv\n";

TEST(MapCases, APermuteThatTheInputAbsorbs) {
  EXPECT_EQ(npu(kAbsorbed),
            "0 quantize_per_tensor: conv +\n"
            "1 NeutronBackend: conv\n"
            "  Conv2DStandardV2: conv\n"
            "2 dequantize_per_tensor: conv +\n"
            "- flip: absorbed by the dim order of an input or output\n");
  EXPECT_EQ(cpu(kAbsorbed),
            "0 quantize_per_tensor: conv +\n"
            "1 quantized_conv2d: conv\n"
            "2 dequantize_per_tensor: conv +\n"
            "- flip: absorbed by the dim order of an input or output\n");
}

// With --io contiguous the image comes and goes as the user has it: the transposes are the
// compiler's.
TEST(MapCases, TransposesThatAreInserted) {
  CompileOptions options;
  options.contiguous_io = true;
  options.npu.format_conversion = FormatConversion::npu;  // not by a flag at the border
  const std::string text =
      "source 0 \"conv\" \"aten.conv2d.default\"\n"
      "input x : f32[1,3,6,7]\n"
      "last = permute(x) perm=0,2,3,1 : f32[1,6,7,3] from 0\n"
      "w = const f32[5,3,3,3] random(1)\n"
      "b = const f32[5] random(2)\n"
      "image = conv2d(last, w, b) : f32[1,4,5,5] from 0\n"
      "conv = permute(image) perm=0,3,1,2 : f32[1,5,4,5] from 0\n"
      "output conv\n";
  EXPECT_EQ(to_text(map_of(text, "imxrt700cm", options)),
            "0 quantize_per_tensor: conv +\n"
            "1 NeutronBackend: conv\n"
            "  TransposeCHW: conv +\n"
            "  Conv2DStandardV2: conv\n"
            "  TransposeCHW: conv +\n"
            "2 dequantize_per_tensor: conv +\n");
  EXPECT_EQ(to_text(map_of(text, "cortex-m33", options)),
            "0 quantize_per_tensor: conv +\n"
            "1 transpose: conv +\n"
            "2 quantized_conv2d: conv\n"
            "3 transpose: conv +\n"
            "4 dequantize_per_tensor: conv +\n");
}

// The user's own permute, which no layout absorbs.
constexpr const char* kOwnTranspose =
    "input x : f32[1,6,8,4] order=0,2,3,1\n"
    "turn = permute(x) perm=0,2,1,3\n"
    "w = const f32[7,3,3,4] random(1)\n"
    "b = const f32[7] random(2)\n"
    "conv = conv2d(turn, w, b)\n"
    "output conv order=0,2,3,1\n";

TEST(MapCases, ATransposeOfTheUsersOwn) {
  EXPECT_EQ(npu(kOwnTranspose),
            "0 quantize_per_tensor: turn +\n"
            "1 NeutronBackend: turn,conv\n"
            "  TransposeCHW: turn\n"
            "  Conv2DStandardV2: conv\n"
            "2 dequantize_per_tensor: conv +\n");
  EXPECT_EQ(cpu(kOwnTranspose),
            "0 quantize_per_tensor: turn +\n"
            "1 transpose: turn\n"
            "2 quantized_conv2d: conv\n"
            "3 dequantize_per_tensor: conv +\n");
}

// A quantized model may change the scale between two operators: part of the relu's table on the
// NPU, on the CPU a kernel that is added for the operator that reads it.
constexpr const char* kRescaled =
    "source 0 \"q0\" \"quantized_decomposed.quantize_per_tensor.default\"\n"
    "source 1 \"relu\" \"aten.relu.default\"\n"
    "source 2 \"q1\" \"quantized_decomposed.quantize_per_tensor.default\"\n"
    "source 3 \"q2\" \"quantized_decomposed.quantize_per_tensor.default\"\n"
    "source 4 \"pool\" \"aten.max_pool2d.default\"\n"
    "source 5 \"q3\" \"quantized_decomposed.quantize_per_tensor.default\"\n"
    "input x : f32[1,6,8,4] order=0,2,3,1\n"
    "xq = quantize(x) quant=q(scale=0.05 zero=3) : s8[1,6,8,4] q(scale=0.05 zero=3) from 0\n"
    "xd = dequantize(xq) : f32[1,6,8,4] from 0\n"
    "r = clamp(xd) bounds=0,inf : f32[1,6,8,4] from 1\n"
    "rq = quantize(r) quant=q(scale=0.05 zero=3) : s8[1,6,8,4] q(scale=0.05 zero=3) from 2\n"
    "rd = dequantize(rq) : f32[1,6,8,4] from 2\n"
    "sq = quantize(rd) quant=q(scale=0.03 zero=-9) : s8[1,6,8,4] q(scale=0.03 zero=-9) from 3\n"
    "sd = dequantize(sq) : f32[1,6,8,4] from 3\n"
    "p = max_pool2d(sd) kernel=2,2 stride=2,2 : f32[1,3,4,4] from 4\n"
    "pq = quantize(p) quant=q(scale=0.03 zero=-9) : s8[1,3,4,4] q(scale=0.03 zero=-9) from 5\n"
    "pd = dequantize(pq) : f32[1,3,4,4] from 5\n"
    "output pd order=0,2,3,1\n";

TEST(MapCases, AChangeOfScaleBetweenTwoOperators) {
  EXPECT_EQ(npu(kRescaled),
            "0 quantize_per_tensor: relu +\n"
            "1 NeutronBackend: relu,pool\n"
            "  Table: relu\n"
            "  MaxPool: pool\n"
            "2 dequantize_per_tensor: pool +\n");
  EXPECT_EQ(cpu(kRescaled),
            "0 quantize_per_tensor: relu +\n"
            "1 quantized_activation: relu\n"
            "2 quantized_activation: pool +\n"
            "3 quantized_max_pool2d: pool\n"
            "4 dequantize_per_tensor: pool +\n");
}

// A chain of pointwise operators is one table, on the CPU and on the NPU: of them all, in their
// order.
constexpr const char* kChain =
    "input x : f32[1,6,8,4] order=0,2,3,1\n"
    "w = const f32[7,3,3,4] random(1)\n"
    "b = const f32[7] random(2)\n"
    "conv = conv2d(x, w, b)\n"
    "sig = unary(conv) fn=sigmoid\n"
    "tanh = unary(sig) fn=tanh\n"
    "swish = mul(conv, sig)\n"
    "out = add(swish, tanh)\n"
    "output out order=0,2,3,1\n";

TEST(MapCases, AChainOfPointwiseOperators) {
  EXPECT_EQ(npu(kChain),
            "0 quantize_per_tensor: conv +\n"
            "1 NeutronBackend: conv,sig,tanh,swish,out\n"
            "  Conv2DStandardV2: conv\n"
            "  Table: sig,tanh,swish,out\n"
            "2 dequantize_per_tensor: out +\n");
  EXPECT_EQ(cpu(kChain),
            "0 quantize_per_tensor: conv +\n"
            "1 quantized_conv2d: conv\n"
            "2 quantized_activation: sig,tanh,swish,out\n"
            "3 dequantize_per_tensor: out +\n");
}

}  // namespace
}  // namespace deuteron

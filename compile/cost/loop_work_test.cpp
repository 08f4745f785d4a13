// SPDX-License-Identifier: Apache-2.0
#include "compile/cost/loop_work.h"

#include <gtest/gtest.h>

#include "compile/compilation.h"
#include "compile/compile.h"
#include "compile/cost/cpu_cost.h"
#include "compile/cost/loops.h"
#include "compile/options.h"
#include "ir/text.h"
#include "targets/target.h"

namespace deuteron {
namespace {

// A pointwise convolution of 3 x 5 places, whose weights are packed.
Graph convolution(const char* core) {
  Diagnostics d;
  std::optional<Graph> g = parse(
      "input x : f32[1,3,5,8] order=0,3,1,2\n"
      "y = conv2d(x, random f32[6,1,1,8], random f32[6])\noutput y order=0,3,1,2\n",
      "f.txt", d);
  CompileOptions options;
  options.packed_weights = true, options.packed_growth_percent = 1000;
  options.ports = PortTypes::steps;
  Samples samples(1);
  for (int k = 0; k < 120; k++) {
    if (k == 0) samples[0].emplace_back();
    samples[0][0].push_back(static_cast<float>(k % 7) - 3.0f);
  }
  std::optional<Compilation> c = compile(*std::move(g), *find_target(core, d), samples, options, d);
  for (const Diagnostic& e : d.list())
    EXPECT_NE(e.severity, Severity::error) << format_diagnostic(e);
  return std::move(c.value().graph);
}

TEST(LoopWork, CountsTilesThatAreFilledUp) {
  const Graph g = convolution("cortex-m4");
  ASSERT_EQ(g.nodes.size(), 1u);
  const std::optional<LoopWork> found = loop_work(g, g.nodes[0], Isa::dsp);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->kernel, "deuteron::packed_conv2d@pixels");
  EXPECT_EQ(found->work.results, 16 * 8);  // 15 windows two by two, 6 filters four by four
  EXPECT_EQ(found->work.macs, 16 * 8 * 8);
  EXPECT_EQ(found->work.windows, 15);
  const Graph scalar = convolution("cortex-m3");
  const std::optional<LoopWork> by_fours = loop_work(scalar, scalar.nodes.at(0), Isa::scalar);
  ASSERT_TRUE(by_fours);
  EXPECT_EQ(by_fours->kernel, "deuteron::packed_conv2d@windows");
  EXPECT_EQ(by_fours->work.results, 16 * 6);  // filters one by one
}

// Few elements have an exponential each, many those of 256 distances; of these taps are not 0.
TEST(LoopWork, CountsExponentials) {
  const auto work = [](i64 rows, i64 columns, Isa isa) {
    Graph g;
    Type type;
    type.dtype = DType::s8, type.shape = {rows, columns};
    type.quant.scale = {0.25f};
    KernelCall call;
    call.name = "cortex_m::softmax";
    const ValueId x = g.add_value("x", type);
    g.add_node(std::move(call), {x}, {type}, "y", {});
    return loop_work(g, g.nodes[0], isa).value();
  };
  const LoopWork few = work(2, 9, Isa::dsp), many = work(32, 9, Isa::dsp);
  EXPECT_EQ(few.kernel, "cortex_m::softmax@few");
  EXPECT_EQ(few.work.taps, 0);
  EXPECT_EQ(many.kernel, "cortex_m::softmax@many");
  EXPECT_EQ(many.work.taps, 62);
  EXPECT_GT(many.work.macs, 62);
  EXPECT_EQ(work(2, 9, Isa::mve).work.taps, 6);  // vectors
  EXPECT_EQ(work(32, 9, Isa::mve).kernel, "cortex_m::softmax@many");
}

std::string product_loops(i32 rows, i32 columns, i32 inner, i32 other_offset, Isa isa) {
  return product_work({1, rows, columns, inner, 0, other_offset, 0, 1 << 29, 0}, isa).kernel;
}

TEST(LoopWork, AsksTheKernelsWhichProductsMeetTiles) {
  EXPECT_EQ(product_loops(8, 8, 32, 3, Isa::mve), "short");
  EXPECT_EQ(product_loops(8, 8, 33, 3, Isa::mve), "long");
  EXPECT_EQ(product_loops(8, 8, 65, 3, Isa::mve), "pairs");
  EXPECT_EQ(product_loops(5, 8, 32, 3, Isa::mve), "row");
  EXPECT_EQ(product_loops(4, 2, 160, 3, Isa::dsp), "tiles");
  EXPECT_EQ(product_loops(4, 2, 161, 3, Isa::dsp), "fours");
  EXPECT_EQ(product_loops(8, 8, 8, 0, Isa::scalar), "fours");
  EXPECT_EQ(product_loops(8, 8, 8, 3, Isa::scalar), "offset");
}

// [2,3,4] seen as [3,2,4] is rows of 4 bytes; turned, its last two dimensions are single elements.
TEST(LoopWork, CountsWhatAPermutationMoves) {
  const auto work = [](std::vector<i64> perm, const Shape& turned, Isa isa) {
    Node node;
    KernelCall call;
    call.name = "cortex_m::transpose";
    call.args.resize(3);
    call.args[0].kind = KernelArg::Kind::input, call.args[0].face = plain_face({2, 3, 4});
    call.args[1].kind = KernelArg::Kind::integers, call.args[1].integers = std::move(perm);
    call.args[2].kind = KernelArg::Kind::output, call.args[2].face = plain_face(turned);
    node.op = std::move(call);
    return permute_work(node, isa).value();
  };
  const LoopWork rows = work({1, 0, 2}, {3, 2, 4}, Isa::dsp);
  EXPECT_EQ(rows.kernel, "rows");
  EXPECT_EQ(rows.work.operands, 6);  // words
  const LoopWork elements = work({0, 2, 1}, {2, 4, 3}, Isa::dsp);
  EXPECT_EQ(elements.kernel, "elements");
  EXPECT_EQ(elements.work.macs + elements.work.taps, 24 / 4);  // lines of four
  EXPECT_EQ(work({0, 2, 1}, {2, 4, 3}, Isa::mve).kernel, "lanes");
}

// A depthwise window of 5 x 5 lies in planes with the DSP extension; in portable C it is met tap by
// tap, but for those outside.
TEST(LoopWork, CountsTapsOfDepthwiseWindows) {
  Graph g;
  const auto value = [&](const char* name, Shape shape) {
    Type type;
    type.dtype = DType::s8, type.shape = std::move(shape);
    return g.add_value(name, type);
  };
  KernelCall call;
  call.name = "cortex_m::quantized_depthwise_conv2d";
  for (const std::vector<i64>& list : {std::vector<i64>{1, 1}, {2, 2}, {1, 1}}) {
    KernelArg arg;
    arg.kind = KernelArg::Kind::integers, arg.integers = list;
    call.args.push_back(arg);
  }
  const ValueId x = value("x", {1, 6, 6, 8}), w = value("w", {1, 5, 5, 8});
  Type y = g.type(x);
  g.add_node(std::move(call), {x, w}, {y}, "y", {});
  const LoopWork planes = depthwise_work(g, g.nodes[0], Isa::dsp).value();
  EXPECT_EQ(planes.kernel, "windows");
  EXPECT_EQ(planes.work.macs, 2 * 6 * 2 * 15);  // fours of outputs, and pairs of taps of each
  const LoopWork sums = depthwise_work(g, g.nodes[0], Isa::scalar).value();
  EXPECT_EQ(sums.kernel, "sums");
  EXPECT_EQ(3 * sums.work.macs + sums.work.taps, 24 * 24 * 8);  // of 30 rows and columns of taps
}

// A call's own line, else that of its loops.
TEST(LoopWork, IsAskedWhereTheTargetHasItsLine) {
  const Graph g = convolution("cortex-m4");
  Diagnostics d;
  Target target = find_target("cortex-m4", d).value();
  target.cpu_cycles.clear();
  target.cpu_cost = {{.kernel = "deuteron::packed_conv2d", .call = 7}};
  EXPECT_EQ(cpu_cycles(g, g.nodes.at(0), target), 7);
  target.cpu_cost.push_back({.kernel = "deuteron::packed_conv2d@pixels", .call = 1, .window = 512});
  EXPECT_EQ(cpu_cycles(g, g.nodes.at(0), target), 1 + 2 * 15);
}

KernelArg whole_number(i64 n) {
  KernelArg arg;
  arg.kind = KernelArg::Kind::integer, arg.integer = n;
  return arg;
}

LoopWork loops_of(const char* name, const std::vector<Type>& in, const Type& out,
                  std::vector<KernelArg> args, Isa isa, const char* overload = "out") {
  Graph g;
  KernelCall call;
  call.name = name, call.overload = overload, call.args = std::move(args);
  std::vector<ValueId> operands;
  for (const Type& type : in)
    operands.push_back(g.add_value("x" + std::to_string(operands.size()), type));
  g.add_node(std::move(call), std::move(operands), {out}, "y", {});
  return loop_work(g, g.nodes[0], isa).value();
}

Type type_of(DType dtype, Shape shape) {
  Type type;
  type.dtype = dtype, type.shape = std::move(shape);
  return type;
}

// Operators of integers share their loops. A number beside a tensor is walked to.
TEST(LoopWork, KnowsPortableFamilies) {
  const Type bytes = type_of(DType::s8, {2, 9}), longs = type_of(DType::s64, {2, 9}),
             bools = type_of(DType::b8, {2, 9});
  const LoopWork alike = loops_of("aten::eq", {bytes, bytes}, bools, {}, Isa::dsp, "Tensor_out"),
                 number = loops_of("aten::add", {longs}, longs, {}, Isa::dsp, "Scalar_out");
  EXPECT_EQ(alike.kernel, "aten@pairs");
  EXPECT_EQ(number.kernel, "aten@pairs");
  EXPECT_EQ(alike.work.taps, 0);
  EXPECT_EQ(number.work.taps, 18);
  EXPECT_EQ(number.work.macs, 36);  // 8 bytes are read and written
  EXPECT_EQ(loops_of("aten::mul", {longs, longs}, longs, {}, Isa::dsp).kernel, "aten@binary");
  const LoopWork few = loops_of("aten::topk", {type_of(DType::s8, {3, 50})},
                                type_of(DType::s8, {3, 4}), {whole_number(4)}, Isa::mve);
  EXPECT_EQ(few.kernel, "aten::topk@heap");
  EXPECT_EQ(few.work.macs, 3 * 46);
}

// Two columns side by side are moved element by element, wider parts as rows; a slice of every
// other line of [4,6] is two rows.
TEST(LoopWork, CountsRowsOfCopies) {
  const auto bytes = [](Shape shape) { return type_of(DType::s8, std::move(shape)); };
  const CpuWork columns =
      loops_of("aten::cat", {bytes({30, 1}), bytes({30, 1})}, bytes({30, 2}), {}, Isa::mve).work;
  EXPECT_EQ(columns.constants, 60);
  EXPECT_EQ(columns.macs, 0);
  const CpuWork rows =
      loops_of("aten::cat", {bytes({30, 3}), bytes({30, 3})}, bytes({30, 6}), {}, Isa::mve).work;
  EXPECT_EQ(rows.constants, 0);
  EXPECT_EQ(rows.macs, 60);
  KernelArg x, part;
  x.kind = KernelArg::Kind::input, x.face = plain_face({4, 6});
  part.kind = KernelArg::Kind::output, part.face = plain_face({2, 6});
  const CpuWork slice =
      loops_of("aten::slice_copy", {bytes({4, 6})}, bytes({2, 6}),
               {x, whole_number(0), whole_number(0), whole_number(4), whole_number(2), part},
               Isa::mve)
          .work;
  EXPECT_EQ(slice.macs, 2);
}

TEST(LoopWork, KnowsWhatIsPickedAndPlaced) {
  const Type x = type_of(DType::s8, {1, 64}), at = type_of(DType::s64, {1, 32}),
             y = type_of(DType::s8, {1, 32});
  const LoopWork picked = loops_of("aten::gather", {x, at}, y, {}, Isa::dsp),
                 placed = loops_of("aten::scatter", {x, at, y}, x, {}, Isa::dsp);
  EXPECT_EQ(picked.kernel, "aten::gather@indexes");
  EXPECT_EQ(picked.work.taps, 64);
  EXPECT_EQ(placed.work.results, 32);
  EXPECT_EQ(placed.work.operands, 64);
}

// [2,5,24] summed along the second dimension: blocks of 8 neighbours, or of 4. What is scaled up is
// left to portable C, with MVE.
TEST(LoopWork, CountsBlocksOfSums) {
  const auto work = [](i32 shift, Isa isa) {
    Graph g;
    const ValueId x = g.add_value("x", type_of(DType::s8, {2, 5, 24}));
    CallBuilder call("deuteron::sum", 1, 1);
    call.numbers(SumArgs{2, 5, 24, 0, 0, 1 << 29, shift, -128, 127});
    g.add_node(call.done().call, {x}, {type_of(DType::s8, {2, 1, 24})}, "y", {});
    return loop_work(g, g.nodes[0], isa).value();
  };
  EXPECT_EQ(work(-2, Isa::mve).work.macs, 2 * 3 * 5);
  EXPECT_EQ(work(-2, Isa::dsp).work.macs, 2 * 6 * 5);
  EXPECT_EQ(work(1, Isa::mve).kernel, "deuteron::sum@narrow");
}

}  // namespace
}  // namespace deuteron

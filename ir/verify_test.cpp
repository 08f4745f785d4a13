// SPDX-License-Identifier: Apache-2.0
#include "ir/verify.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "ir/random_graph.h"

namespace deuteron {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr ValueId kX = 0, kWeight = 1, kY = 2, kQ = 3, kBack = 4;

// x -> conv2d(weight) -> y -> quantize -> q -> dequantize -> back
Graph sound() {
  Graph g;
  g.name = "net.pt2";
  for (const char* name : {"conv", "q", "dq"}) g.sources.push_back({name, "aten", "", ""});
  const Quant quant = per_tensor(0.5f, -3);
  g.add_value("x", {DType::f32, {2, 5, 7, 3}, {}});
  g.add_value("w", {DType::f32, {4, 3, 1, 3}, {}}, constant_of(std::vector<float>(36, 0.25f)));
  g.add_node(Conv2d{}, {kX, kWeight}, {{DType::f32, {2, 3, 7, 4}, {}}}, "y", {0});
  g.add_node(Quantize{quant}, {kY}, {{DType::s8, {2, 3, 7, 4}, quant}}, "q", {1});
  g.add_node(Dequantize{}, {kQ}, {{DType::f32, {2, 3, 7, 4}, {}}}, "back", {2});
  g.inputs.push_back({kX, "x", {0, 2, 3, 1}});
  g.outputs.push_back({kBack, "out", {0, 1, 2, 3}});
  return g;
}

// A lowered graph: one kernel call with scratch, working in place.
Graph lowered() {
  Graph g;
  g.sources.push_back({"add", "aten", "", ""});
  const Quant quant = per_tensor(0.5f, -3);
  const ValueId a = g.add_value("a", {DType::s8, {2, 3, 7, 4}, quant}),
                b = g.add_value("b", {DType::s8, {2, 3, 7, 4}, quant});
  CallBuilder call("cortex_m::quantized_add", 2, 1);
  const Face face = channels_last_face({2, 3, 7, 4});
  call.in(0, face).integer(5).in(1, face).real(0.5).scratch(40).out(0, face).may_share(0, 1);
  Lowered done = call.done();
  g.add_node(done.call, {a, b}, {{DType::s8, {2, 3, 7, 4}, quant}, {DType::u8, {40}, {}}}, "y",
             {0});
  g.inputs = {{a, "a", {0, 1, 2, 3}}, {b, "b", {0, 1, 2, 3}}};
  g.outputs.push_back({2, "y", {0, 1, 2, 3}});
  return g;
}

TEST(Verify, AcceptsSoundGraphs) {
  EXPECT_EQ(find_fault(sound()), std::nullopt);
  EXPECT_EQ(find_fault(lowered()), std::nullopt);
  EXPECT_EQ(find_fault(Graph{}), std::nullopt);
  for (uint64_t seed = 0; seed < 200; ++seed)
    EXPECT_EQ(find_fault(RandomGraph(seed).grow(20)), std::nullopt) << seed;
}

struct Case {
  const char* fault;
  void (*spoil)(Graph&);
};

void expect_faults(Graph (*make)(), std::initializer_list<Case> cases) {
  for (const Case& c : cases) {
    Graph g = make();
    c.spoil(g);
    EXPECT_THAT(find_fault(g).value_or("sound"), HasSubstr(c.fault));
  }
}

TEST(Verify, FindsFaultsOfEdges) {
  expect_faults(
      sound,
      {
          {"conv2d `conv` (source op 0): reads value 5 of 5",
           [](Graph& g) { g.nodes[0].inputs[0] = 5; }},
          {"reads value -1 of 5", [](Graph& g) { g.nodes[0].inputs[1] = -1; }},
          {"reads `q` before it is made", [](Graph& g) { std::swap(g.nodes[1], g.nodes[2]); }},
          {"reads `x` before it is made", [](Graph& g) { g.inputs.clear(); }},
          {"makes `w`, which is made already", [](Graph& g) { g.nodes[0].outputs[0] = kWeight; }},
          {"makes `y`, which is made already", [](Graph& g) { g.nodes[1].outputs[0] = kY; }},
          {"makes value 9 of 5", [](Graph& g) { g.nodes[0].outputs[0] = 9; }},
          {"makes nothing", [](Graph& g) { g.nodes[0].outputs.clear(); }},
          {"output `out`: value `back` is never made", [](Graph& g) { g.nodes.pop_back(); }},
          {"input `x`: value `w` is a constant or another input",
           [](Graph& g) { g.inputs[0].value = kWeight; }},
          {"input `x`: value `x` is a constant or another input",
           [](Graph& g) { g.inputs.push_back(g.inputs[0]); }},
          {"output `out`: value 77 of 5", [](Graph& g) { g.outputs[0].value = 77; }},
          {"output `out`: order 0,1,1,3 is not a permutation",
           [](Graph& g) { g.outputs[0].order[2] = 1; }},
          {"input `x`: order 0,2,3 is not a permutation",
           [](Graph& g) { g.inputs[0].order.pop_back(); }},
          {"input `x`: order 0,2,3,-1 is not a permutation",
           [](Graph& g) { g.inputs[0].order[3] = -1; }},
      });
}

TEST(Verify, FindsFaultsOfOrigins) {
  expect_faults(sound, {
                           {"conv2d `y`: no origin", [](Graph& g) { g.nodes[0].origin.clear(); }},
                           {"source id 3 of 3",
                            [](Graph& g) {
                              g.nodes[1].origin = {1, 3};
                            }},
                           {"source id -1 of 3", [](Graph& g) { g.nodes[1].origin = {-1}; }},
                           {"origin 2,1 is not sorted",
                            [](Graph& g) {
                              g.nodes[1].origin = {2, 1};
                            }},
                           {"origin 1,1 is not sorted",
                            [](Graph& g) {
                              g.nodes[1].origin = {1, 1};
                            }},
                           {"folded \"gone\": source id 4 of 3",
                            [](Graph& g) {
                              g.folded.push_back({{4}, "gone"});
                            }},
                       });
}

TEST(Verify, FindsFaultsOfTypes) {
  expect_faults(
      sound,
      {
          {"constant of 144 bytes, its type f32[4,3,1,2] has 96",
           [](Graph& g) { g.values[kWeight].type.shape[3] = 2; }},
          {"value `w`: constant is not aligned for f32",
           [](Graph& g) {
             auto bytes = std::make_shared<std::vector<double>>(20);
             g.values[kWeight].constant =
                 Constant{bytes, std::as_bytes(std::span(*bytes)).subspan(1, 144)};
           }},
          {"value `x`: extent -2", [](Graph& g) { g.values[kX].type.shape[0] = -2; }},
          {"more than 2^40 elements",
           [](Graph& g) {
             g.values[kX].type.shape = {INT64_MAX, INT64_MAX, 0, INT64_MAX};
           }},
          {"rank 17, limit 16", [](Graph& g) { g.values[kX].type.shape = Shape(17, 1); }},
          {"result 0 is f32[2,3,7,5], inferred f32[2,3,7,4]",
           [](Graph& g) { g.values[kY].type.shape[3] = 5; }},
          {"channels do not fit the weight",
           [](Graph& g) { std::get<Conv2d>(g.nodes[0].op).groups = 2; }},
          {"result 0 is s32[2,3,7,4]", [](Graph& g) { g.values[kQ].type.dtype = DType::s32; }},
          {"f32 has quantization parameters",
           [](Graph& g) { g.values[kBack].type.quant = per_tensor(1, 0); }},
          {"is not what the operator says",
           [](Graph& g) { std::get<Quantize>(g.nodes[1].op).quant.zero_point[0] = 4; }},
          {"scale 0 is not finite and positive",
           [](Graph& g) { g.values[kQ].type.quant.scale[0] = 0; }},
          {"scale inf is not finite",
           [](Graph& g) { g.values[kQ].type.quant.scale[0] = INFINITY; }},
          {"scale nan is not finite", [](Graph& g) { g.values[kQ].type.quant.scale[0] = NAN; }},
          {"zero point 128 is not within -128..127",
           [](Graph& g) { g.values[kQ].type.quant.zero_point[0] = 128; }},
          {"2 scales, 1 zero points", [](Graph& g) { g.values[kQ].type.quant.scale.push_back(1); }},
          {"2 scales for extent 1",
           [](Graph& g) {
             g.values[kQ].type.quant = {{1, 2}, {0, 0}, -1, -128, 127};
           }},
          {"2 scales for extent 4",
           [](Graph& g) {
             g.values[kQ].type.quant = {{1, 2}, {0, 0}, 3, -128, 127};
           }},
          {"quantization axis 4 of rank 4", [](Graph& g) { g.values[kQ].type.quant.axis = 4; }},
          {"quantized range 5..-5 is empty",
           [](Graph& g) { g.values[kQ].type.quant = per_tensor(1, 0, 5, -5); }},
          {"zero points without scales", [](Graph& g) { g.values[kQ].type.quant.scale.clear(); }},
      });
}

TEST(Verify, FindsFaultsOfKernelCalls) {
  static const auto call = [](Graph& g) -> KernelCall& {
    return std::get<KernelCall>(g.nodes[0].op);
  };
  expect_faults(
      lowered,
      {
          {"input 2 of 2", [](Graph& g) { call(g).args[2].integer = 2; }},
          {"input -1 of 2", [](Graph& g) { call(g).args[2].integer = -1; }},
          {"output 2 of 2", [](Graph& g) { call(g).args[5].integer = 2; }},
          {"output 0 is an argument 0 times", [](Graph& g) { call(g).args.pop_back(); }},
          {"output 0 is an argument 2 times",
           [](Graph& g) { call(g).args.push_back(call(g).args.back()); }},
          {"input 1 is not an argument", [](Graph& g) { call(g).args[2].integer = 0; }},
          {"input 0 of [2,3,7,4] is seen as [2,4,3,6]",
           [](Graph& g) { call(g).args[0].face.sizes[3] = 6; }},
          {"input 0 is seen as [2,4,3,7] in order 0,2,3,3",
           [](Graph& g) { call(g).args[0].face.order[3] = 3; }},
          {"more than 2^40",
           [](Graph& g) {
             call(g).args[0].face.sizes = {INT64_MAX, INT64_MAX, 4, 4};
           }},
          {"in-place pair 0:2", [](Graph& g) { call(g).in_place[0].second = 2; }},
          {"in-place pair 0:-1", [](Graph& g) { call(g).in_place[0].second = -1; }},
          {"output 1 of 400 bytes in place of input 1 of 168",
           [](Graph& g) {
             g.values[3].type.shape = {400};
             call(g).args[4].face = plain_face({400});
             call(g).in_place[0].first = 1;
           }},
          {"own scratch of 3 outputs of 2", [](Graph& g) { call(g).own_scratch.resize(3); }},
          {"own scratch of 5 to 4 bytes in 40",
           [](Graph& g) {
             call(g).own_scratch = {{5, 4}};
           }},
          {"own scratch of 0 to 41 bytes in 40",
           [](Graph& g) {
             call(g).own_scratch = {{0, 41}};
           }},
          {"own scratch of -1 to 40 bytes in 40",
           [](Graph& g) {
             call(g).own_scratch = {{-1, 40}};
           }},
          {"a kernel call without a name", [](Graph& g) { call(g).name.clear(); }},
          {"-1 multiply-adds", [](Graph& g) { call(g).macs = -1; }},
      });
}

TEST(Verify, ListsLostSources) {
  Graph g = sound();
  EXPECT_THAT(lost_sources(g), ElementsAre());
  g.nodes[0].origin = {2};
  EXPECT_THAT(lost_sources(g), ElementsAre(0));
  g.folded.push_back({{0}, "identity"});
  EXPECT_THAT(lost_sources(g), ElementsAre());
}

}  // namespace
}  // namespace deuteron

// SPDX-License-Identifier: Apache-2.0
#include "ir/states.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/diagnostic.h"
#include "compile/plan/plan_memory.h"
#include "ir/text.h"
#include "ir/verify.h"

namespace deuteron {
namespace {

using testing::HasSubstr;

Graph sound(const std::string& text) {
  Diagnostics diagnostics;
  auto g = parse(text, "f.txt", diagnostics);
  EXPECT_TRUE(g) << (diagnostics.list().empty() ? "" : format_diagnostic(diagnostics.list()[0]));
  return g ? *std::move(g) : Graph{};
}

constexpr char kCounter[] =
    "source 0 \"n\" \"buffer_mutation\"\n"
    "input x : f32[1,3]\n"
    "input n : f32[1,3]\n"
    "y = add(x, n) : f32[1,3]\n"
    "output y\n"
    "output y name=\"n\"\n"
    "state f32[1,3] 1,2,3 from 0\n";

TEST(States, ReadAndPrinted) {
  const Graph g = sound(kCounter);
  ASSERT_EQ(g.states.size(), 1u);
  EXPECT_EQ(g.user_inputs().size(), 1u);
  EXPECT_EQ(g.user_outputs().size(), 1u);
  EXPECT_EQ(g.states[0].source, 0);
  EXPECT_EQ(initial_contents(g, 0).as<float>()[2], 3.0f);
  EXPECT_EQ(state_bytes(g), 12);
  EXPECT_EQ(print(sound(print(g))), print(g));
}

// Where the ports are quantized the first call reads integers.
TEST(States, BeginInTheStepsOfTheirPorts) {
  Graph g = sound(kCounter);
  for (const ValueId v : {g.state_inputs()[0].value, g.state_outputs()[0].value})
    g.values[v].type = {DType::s8, {1, 3}, per_tensor(0.5f, -4)};
  const Constant initial = initial_contents(g, 0);
  EXPECT_EQ(std::vector<int>(initial.as<int8_t>().begin(), initial.as<int8_t>().end()),
            (std::vector{-2, 0, 2}));
}

TEST(States, TheVerifierComparesBothEnds) {
  struct Case {
    const char* fault;
    void (*spoil)(Graph&);
  };
  const Case cases[] = {
      {"2 states of 2 inputs and 1 outputs",
       [](Graph& g) { g.outputs.pop_back(), g.states.push_back(g.states[0]); }},
      {"state `n`: is f32[1,3], its new value is f32[1,4]",
       [](Graph& g) {
         g.outputs[1].value =
             g.add_value("w", {DType::f32, {1, 4}, {}}, constant_of(std::vector<float>(4)));
       }},
      {"its new value is called `m`", [](Graph& g) { g.outputs[1].name = "m"; }},
      {"state `n`: has order 0,1, its new value 1,0",
       [](Graph& g) {
         g.outputs[1].order = {1, 0};
       }},
      {"[1,3] begins as [3,1]",
       [](Graph& g) {
         g.states[0].type.shape = {3, 1};
       }},
      {"begins with 8 bytes, its type has 12",
       [](Graph& g) { g.states[0].initial = constant_of(std::vector<float>(2)); }},
      {"source id 4 of 2", [](Graph& g) { g.states[0].source = 4; }},
  };
  for (const Case& c : cases) {
    Graph g = sound(kCounter);
    c.spoil(g);
    EXPECT_THAT(find_fault(g).value_or("sound"), HasSubstr(c.fault));
  }
}

TEST(States, IdleOnesVanish) {
  Graph unread = sound(kCounter);
  unread.outputs[0].value = unread.inputs[0].value;
  drop_idle_states(unread);
  EXPECT_TRUE(unread.states.empty());
  EXPECT_EQ(unread.inputs.size(), 1u);
  EXPECT_EQ(find_fault(unread), std::nullopt);
  Graph fixed = sound(kCounter);
  fixed.outputs[1].value = fixed.inputs[1].value;
  drop_idle_states(fixed);
  EXPECT_TRUE(fixed.states.empty());
  EXPECT_TRUE(fixed.is_constant(fixed.nodes[0].inputs[1]));
  EXPECT_EQ(find_fault(fixed), std::nullopt);
  EXPECT_TRUE(lost_sources(fixed).empty());
  Graph used = sound(kCounter);
  drop_idle_states(used);
  EXPECT_EQ(used.states.size(), 1u);
}

// A lowered graph: what is written last lies where it was read first, and nothing else ever lies
// there.
TEST(States, LieWhereNothingElseDoes) {
  Graph g;
  g.sources.push_back({"n", "buffer_mutation", "", ""});
  const Type type{DType::s8, {64}, {}};
  const Face face = plain_face(type.shape);
  const ValueId x = g.add_value("x", type), before = g.add_value("n", type);
  ValueId v = x;
  for (int k = 0; k < 6; ++k) {
    CallBuilder call("test::add", 2, 1);
    v = g.add_node(call.in(0, face).in(1, face).out(0, face).done().call, {v, k == 0 ? before : x},
                   {type}, "t", {0});
  }
  CallBuilder write(kStateWrite, 1, 1);
  const ValueId after =
      g.add_node(write.overload("").out(0, face).in(0, face).boolean(false).done().call, {v},
                 {type}, "n", {0});
  g.inputs = {{x, "x", {0}}, {before, "n", {0}}};
  g.outputs = {{v, "y", {0}}, {after, "n", {0}}};
  g.states.push_back({type, constant_of(std::vector<int8_t>(64)), 0});
  ASSERT_EQ(find_fault(g), std::nullopt);
  const MemoryPlan plan = plan_memory(g);
  EXPECT_EQ(plan.offset[after], plan.offset[before]);
  EXPECT_EQ(plan.root[after], before);
  for (ValueId v = 0; v < static_cast<ValueId>(g.values.size()); ++v) {
    const bool is_apart =
        plan.offset[v] >= plan.offset[before] + 64 || plan.offset[v] + 64 <= plan.offset[before];
    EXPECT_TRUE(v == before || v == after || is_apart) << g.values[v].name;
  }
}

}  // namespace
}  // namespace deuteron

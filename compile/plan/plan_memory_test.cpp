// SPDX-License-Identifier: Apache-2.0
// The planner on graphs whose best plan can be found by hand, and its promises on random ones.
#include "compile/plan/plan_memory.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

#include "compile/plan/hand_made_graph.h"
#include "compile/plan/homes.h"

namespace deuteron {
namespace {

using Bytes = std::pair<i64, i64>;  // [begin, end)
Bytes bytes_of_value(const Graph& g, const MemoryPlan& p, ValueId v) {
  return {p.offset[v], p.offset[v] + g.type(v).bytes()};
}
bool overlap(Bytes a, Bytes b) { return a.first < b.second && b.first < a.second; }

bool last_can_move_in(const Graph& g) {
  Graph before = g;
  before.nodes.pop_back();
  return Homes(before).move_in(g, g.nodes.back());
}

// Runs the program on tokens: every byte remembers who wrote it last. Independent of how the
// planner thinks of lives.
void expect_runs(const Graph& g, const MemoryPlan& p) {
  std::vector<ValueId> writer(static_cast<size_t>(p.bytes), -1);
  const Homes homes(g);
  const auto root = [&](ValueId v) { return homes.of(v).root; };
  const auto write = [&](ValueId v) {
    const auto [begin, end] = bytes_of_value(g, p, v);
    ASSERT_GE(begin, 0) << g.values[v].name;
    if (root(v) == v) { ASSERT_EQ(begin % kPlanAlignment, 0); }
    ASSERT_LE(end, p.bytes);
    for (i64 b = begin; b < end; ++b) writer[b] = v;
  };
  // Bytes may have been written by the value, by what it is a view of, or by its parts: all lie in
  // the same root.
  const auto read = [&](ValueId v, const char* who) {
    if (g.is_constant(root(v))) return;
    const auto [begin, end] = bytes_of_value(g, p, v);
    ASSERT_EQ(begin, p.offset[root(v)] + homes.of(v).offset);
    for (i64 b = begin; b < end; ++b) {
      ASSERT_GE(writer[b], 0) << who << " reads " << g.values[v].name << " before it is written";
      ASSERT_EQ(root(writer[b]), root(v))
          << who << " reads " << g.values[v].name << " which is gone";
    }
  };
  for (const Port& port : g.inputs) write(port.value);
  for (const Node& node : g.nodes) {
    if (takes_no_time(node.op)) continue;
    const auto& call = std::get<KernelCall>(node.op);
    for (const ValueId v : node.inputs) read(v, call.name.c_str());
    for (size_t o = 0; o < node.outputs.size();
         ++o) {  // outs overlap nothing of the call but their in-place partner
      const Bytes out = bytes_of_value(g, p, node.outputs[o]);
      for (size_t k = 0; k < o; ++k)
        ASSERT_FALSE(overlap(out, bytes_of_value(g, p, node.outputs[k])));
      for (size_t i = 0; i < node.inputs.size(); ++i) {
        if (g.is_constant(root(node.inputs[i])) ||
            !overlap(out, bytes_of_value(g, p, node.inputs[i])))
          continue;
        const std::pair<i64, i64> pair(o, i);
        EXPECT_NE(std::find(call.in_place.begin(), call.in_place.end(), pair), call.in_place.end())
            << call.name << " overwrites an operand";
        EXPECT_EQ(out.first, p.offset[node.inputs[i]]);
        EXPECT_EQ(g.type(node.outputs[o]).elements(), g.type(node.inputs[i]).elements());
      }
    }
    for (const ValueId v : node.outputs) write(v);
  }
  for (const Port& port : g.outputs) read(port.value, "the caller");
  EXPECT_GE(p.bytes, p.lower_bound);
  EXPECT_EQ(p.bytes % kPlanAlignment, 0);
}

i64 peak_bytes(const MemoryPlan& p) {
  i64 sum = 0;
  for (const LiveTensor& t : p.peak) sum += (t.bytes + 15) / 16 * 16;
  return sum;
}

TEST(PlanMemory, AChainNeedsTwoNeighbours) {
  HandMadeGraph h;
  ValueId v = h.input("x", DType::s8, {1, 100});
  for (const i64 n : {300, 50, 200}) v = h.call("f", {v}, {s8({1, n})});
  h.output(v);
  const MemoryPlan p = plan_memory(h.graph);
  expect_runs(h.graph, p);
  EXPECT_EQ(p.bytes, 112 + 304);
  EXPECT_TRUE(p.optimal);
  EXPECT_EQ(p.peak_node, 0);
  EXPECT_EQ(peak_bytes(p), p.bytes);
  ASSERT_EQ(p.peak.size(), 2u);
  EXPECT_EQ(p.peak[0].bytes, 300);
  EXPECT_EQ(p.peak[1].value, h.graph.inputs[0].value);
}

TEST(PlanMemory, ConstantsAreNotPlanned) {
  HandMadeGraph h;
  const ValueId x = h.input("x", DType::s8, {3});
  const ValueId w = h.constant<int8_t>("w", DType::s8, {3}, {1, 2, 3});
  const ValueId unused = h.graph.add_value("unused", s8({4}));
  const ValueId view = h.reshape(w, {3, 1});
  h.output(h.call("f", {x, view}, {s8({3})}));
  const MemoryPlan p = plan_memory(h.graph);
  expect_runs(h.graph, p);
  EXPECT_EQ(p.offset[w], -1);
  EXPECT_EQ(p.offset[view], -1);
  EXPECT_EQ(p.offset[unused], -1);
  EXPECT_EQ(p.bytes, 32);
}

TEST(PlanMemory, ScratchLivesOnlyAtItsNode) {
  HandMadeGraph h;
  ValueId v = h.input("x", DType::s8, {1, 16});
  v = h.call("f", {v}, {s8({1, 32}), s8({1000}), s8({24})});
  v = h.call("g", {v}, {s8({1, 16}), s8({2000}), s8({0})});
  h.output(v);
  const MemoryPlan p = plan_memory(h.graph);
  expect_runs(h.graph, p);
  EXPECT_EQ(p.scratch_bytes, 2000);
  EXPECT_EQ(p.bytes, 32 + 16 + 2000);
  EXPECT_EQ(p.offset[h.graph.nodes[1].outputs[2]], 0)
      << "scratch of no bytes has an allocation all the same";
}

TEST(PlanMemory, ViewsLieWhereTheirOperandLies) {
  HandMadeGraph h;
  const ValueId x = h.input("x", DType::s8, {2, 24});
  const ValueId a = h.reshape(x, {4, 12});
  const ValueId b = h.reshape(a, {48});
  const ValueId y = h.call("f", {a}, {s8({16})});
  const ValueId z = h.call("g", {y, b}, {s8({16})});
  const ValueId last = h.reshape(z, {1, 16});
  h.output(last);
  const MemoryPlan p = plan_memory(h.graph);
  expect_runs(h.graph, p);
  EXPECT_EQ(p.offset[b], p.offset[x]);
  EXPECT_EQ(p.offset[last], p.offset[z]);
  EXPECT_EQ(p.bytes, 48 + 16 + 16);
}

TEST(PlanMemory, AnInputThatIsAnOutputStays) {
  HandMadeGraph h;
  const ValueId x = h.input("x", DType::s8, {32});
  const ValueId unused = h.input("unused", DType::f32, {4});
  ValueId v = x;
  for (int k = 0; k < 3; ++k) v = h.call("f", {v}, {s8({32})}, {{0, 0}});
  h.output(v);
  h.output(h.reshape(x, {4, 8}));
  const MemoryPlan p = plan_memory(h.graph);
  expect_runs(h.graph, p);
  EXPECT_EQ(p.bytes, 64) << "x, and one place in which the others follow one another";
  EXPECT_GE(p.offset[unused], 0) << "the caller sets it";
  EXPECT_FALSE(overlap(bytes_of_value(h.graph, p, x), bytes_of_value(h.graph, p, unused)));
}

TEST(PlanMemory, InPlaceWhereTheOperandDies) {
  HandMadeGraph image;  // an input too: it is set before each run
  const ValueId pixels = image.input("x", DType::f32, {160});
  image.output(image.call("quantize", {pixels}, {s8({160})}, {{0, 0}}));
  EXPECT_EQ(plan_memory(image.graph).bytes, 640);

  HandMadeGraph h;
  const ValueId x = h.input("x", DType::s8, {64});
  const ValueId a = h.call("f", {x}, {s8({64})});
  const ValueId b = h.call("f", {x}, {s8({64})});
  const ValueId sum = h.call("add", {a, b}, {s8({64})}, {{0, 0}, {0, 1}});
  h.output(h.call("relu", {sum}, {s8({64})}, {{0, 0}}));
  const MemoryPlan p = plan_memory(h.graph);
  expect_runs(h.graph, p);
  EXPECT_EQ(p.bytes, 3 * 64) << "x, a and b at the second call; later two";
  EXPECT_TRUE(p.optimal);

  HandMadeGraph k;  // without another large moment, in place decides
  const ValueId y = k.input("y", DType::s8, {16});
  const ValueId c = k.call("widen", {y}, {s8({160})});
  k.output(k.call("relu", {c}, {s8({160})}, {{0, 0}}));
  const MemoryPlan q = plan_memory(k.graph);
  expect_runs(k.graph, q);
  EXPECT_EQ(q.bytes, 176);
  EXPECT_TRUE(q.optimal);
}

TEST(PlanMemory, NotInPlaceWhereItWouldBeWrong) {
  const auto bytes = [](auto build) {
    HandMadeGraph h;
    build(h);
    const MemoryPlan p = plan_memory(h.graph);
    expect_runs(h.graph, p);
    return p.bytes;
  };
  EXPECT_EQ(bytes([](HandMadeGraph& h) {  // read again later, through a view
              const ValueId c = h.call("f", {h.input("x", DType::s8, {16})}, {s8({160})});
              const ValueId view = h.reshape(c, {16, 10});
              const ValueId d = h.call("relu", {c}, {s8({160})}, {{0, 0}});
              h.output(h.call("add", {d, view}, {s8({160})}));
            }),
            480);
  EXPECT_EQ(
      bytes([](HandMadeGraph& h) {  // the same operand twice, but only one use may be overwritten
        const ValueId c = h.call("f", {h.input("x", DType::s8, {16})}, {s8({160})});
        h.output(h.call("g", {c, c}, {s8({160})}, {{0, 0}}));
      }),
      320);
  EXPECT_EQ(bytes([](HandMadeGraph& h) {  // wider elements than the operand's
              const ValueId c = h.call("f", {h.input("x", DType::s8, {16})}, {s8({160})});
              h.output(h.call("dequantize", {c}, {f32({160})}, {{0, 0}}));
            }),
            800);
  EXPECT_EQ(bytes([](HandMadeGraph& h) {  // fewer elements
              const ValueId c = h.call("f", {h.input("x", DType::s8, {16})}, {s8({160})});
              h.output(h.call("g", {c}, {s8({80})}, {{0, 0}}));
            }),
            240);
  EXPECT_EQ(bytes([](HandMadeGraph& h) {  // the operand is an output too
              const ValueId c = h.call("f", {h.input("x", DType::s8, {16})}, {s8({160})});
              h.output(h.call("relu", {c}, {s8({160})}, {{0, 0}}));
              h.output(c);
            }),
            320);
}

TEST(PlanMemory, ANarrowerResultMayKeepAWidePlaceOnlyWhenThatPays) {
  HandMadeGraph h;  // quantize in place lowers the peak from 64+16+16 to 80
  ValueId v = h.call("load", {h.input("x", DType::s8, {4})}, {f32({16})});
  v = h.call("quantize", {v}, {s8({16})}, {{0, 0}});
  h.output(v);
  const MemoryPlan p = plan_memory(h.graph);
  expect_runs(h.graph, p);
  EXPECT_EQ(p.bytes, 80);

  HandMadeGraph k;  // the wide place would be held while something large is alive
  ValueId w = k.call("load", {k.input("x", DType::s8, {4})}, {f32({16})});
  w = k.call("quantize", {w}, {s8({16})}, {{0, 0}});
  const ValueId big = k.call("big", {w}, {s8({640})});
  k.output(k.call("end", {w, big}, {s8({16})}));
  const MemoryPlan q = plan_memory(k.graph);
  expect_runs(k.graph, q);
  EXPECT_EQ(q.bytes, 16 + 640 + 16);
}

TEST(PlanMemory, RandomGraphsRunAndKeepTheBound) {
  std::mt19937 random(11);
  int optimal = 0;
  for (int round = 0; round < 150; ++round) {
    HandMadeGraph h;
    std::vector<ValueId> live;
    for (u8 k = 0; k < 1 + random() % 2; ++k) {
      // apart: the order of arguments is the compiler's
      const auto rows = static_cast<i64>(1 + random() % 7);
      live.push_back(h.input("x", random() % 2 ? DType::s8 : DType::f32, {rows, 30}));
    }
    const int nodes = 3 + static_cast<int>(random() % 25);
    for (int k = 0; k < nodes; ++k) {
      const ValueId a = live[live.size() - 1 - random() % std::min<size_t>(3, live.size())],
                    b = live[random() % live.size()];
      const Shape same = h.graph.type(a).shape;
      switch (random() % 7) {
        case 5: {  // a view of a part
          const i64 count = h.graph.type(a).elements(), start = static_cast<i64>(random()) % count;
          live.push_back(h.slice(h.reshape(a, {count}), start,
                                 1 + static_cast<i64>(random()) % (count - start)));
          break;
        }
        case 6:  // parts inside a whole, where that can be
          live.push_back(h.concat({a, b}));
          if (!last_can_move_in(h.graph))
            h.graph.nodes.back().op = h.as_call("cat", h.graph.nodes.back());
          break;
        case 0:
          live.push_back(h.reshape(a, {h.graph.type(a).elements()}));
          break;
        case 1:
          live.push_back(h.call("relu", {a}, {{h.graph.type(a).dtype, same, {}}}, {{0, 0}}));
          break;
        case 2:
          live.push_back(
              h.call("add", {a, b}, {s8(same), s8({static_cast<i64>(random() % 90)})}, {{0, 0}}));
          break;
        case 3:
          live.push_back(h.call("f", {a, b}, {f32({static_cast<i64>(1 + random() % 5), 9})}));
          break;
        default:
          live.push_back(h.call(
              "g", {a},
              {s8({static_cast<i64>(random() % 300)}), s8({static_cast<i64>(random() % 200)})}));
      }
    }
    h.output(live.back());
    if (random() % 2) h.output(live[random() % live.size()]);
    const MemoryPlan p = plan_memory(h.graph);
    expect_runs(h.graph, p);
    if (HasFatalFailure()) return;
    EXPECT_EQ(p.offset, plan_memory(h.graph).offset);
    EXPECT_LE(p.bytes, p.lower_bound * 5 / 4 + 64) << "round " << round;
    optimal += p.optimal;
  }
  EXPECT_GE(optimal, 115);  // of 150; where there are parts, the bound counts their bytes while
                            // they are alive, and is seldom reached
}

TEST(PlanMemory, PartsLieInsideTheirWhole) {
  HandMadeGraph h;
  const ValueId x = h.input("x", DType::s8, {64});
  const ValueId a = h.call("f", {x}, {s8({48})}), b = h.call("g", {x}, {s8({20})});
  const ValueId both = h.concat({a, b});
  h.output(h.call("end", {both}, {s8({16})}));
  const MemoryPlan p = plan_memory(h.graph);
  expect_runs(h.graph, p);
  EXPECT_EQ(p.offset[b], p.offset[a] + 48);
  EXPECT_EQ(p.offset[both], p.offset[a]);
  EXPECT_EQ(p.bytes, 64 + 80);

  // An input of the caller's, a constant, one value twice, and a part of something else stay where
  // they are.
  const auto moves = [&](std::vector<ValueId> parts) {
    h.concat(parts);
    return last_can_move_in(h.graph);
  };
  const ValueId c = h.call("f", {x}, {s8({8})}), d = h.call("f", {x}, {s8({8})});
  EXPECT_FALSE(moves({x, c}));
  EXPECT_FALSE(moves({c, h.constant("k", DType::s8, {2}, std::vector<int8_t>{1, 2})}));
  EXPECT_FALSE(moves({c, c}));
  EXPECT_FALSE(moves({c, h.slice(d, 2, 3)}));
}

// Each band reads a row more than it writes; the result's rows lie where the operand's dead ones
// were.
TEST(PlanMemory, AResultLiesOverRowsThatNobodyReadsAgain) {
  for (const bool upward : {false, true}) {
    HandMadeGraph h;
    const ValueId x = h.call("f", {h.input("x", DType::s8, {16})}, {s8({640})});
    std::vector<ValueId> parts(10);
    for (i64 turn = 0; turn < 10; ++turn) {
      const i64 k = upward ? 9 - turn : turn, first = std::max<i64>(k - 1, 0),
                end = std::min<i64>(k + 2, 10);
      parts[static_cast<size_t>(k)] =
          h.call("g", {h.slice(x, 64 * first, 64 * (end - first))}, {s8({64})});
    }
    h.output(h.concat(parts));
    const MemoryPlan p = plan_memory(h.graph);
    expect_runs(h.graph, p);
    EXPECT_EQ(p.bytes, 640 + 2 * 64);
    EXPECT_EQ(p.lower_bound, 640 + 64 + 64)
        << "nine rows that are read again or written, and the next band's";
  }
}

TEST(PlanMemory, RowsThatAreReadOnceMoreStay) {
  HandMadeGraph h;
  const ValueId x = h.call("f", {h.input("x", DType::s8, {16})}, {s8({640})});
  std::vector<ValueId> parts;
  for (i64 k = 0; k < 10; ++k) parts.push_back(h.call("g", {h.slice(x, 64 * k, 64)}, {s8({64})}));
  h.output(h.call("h", {h.concat(parts), x}, {s8({16})}));
  const MemoryPlan p = plan_memory(h.graph);
  expect_runs(h.graph, p);
  EXPECT_EQ(p.bytes, 640 + 640 + 16);
}

TEST(PlanMemory, AGraphWithoutNodes) {
  HandMadeGraph h;
  const ValueId x = h.input("x", DType::f32, {});
  h.output(x);
  const MemoryPlan p = plan_memory(h.graph);
  expect_runs(h.graph, p);
  EXPECT_EQ(p.bytes, 16);
  EXPECT_EQ(p.peak_node, -1);
  EXPECT_EQ(plan_memory(Graph{}).bytes, 0);
}

}  // namespace
}  // namespace deuteron

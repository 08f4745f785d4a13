// SPDX-License-Identifier: Apache-2.0
// Every row that a step reads lies there when it reads it, and with rows kept none is computed
// twice: on random chains with residual blocks, any number of bands, from the first row and from
// the last.
#include "compile/schedule/row_plan.h"

#include <fmt/format.h>

#include <map>
#include <set>

#include "compile/calibrate/test_graph.h"
#include "ops/families.h"

namespace deuteron {
namespace {

Conv2d random_convolution(std::mt19937& random, i64 height, i64 axis) {
  const auto below = [&](i64 n) { return static_cast<i64>(random() % static_cast<unsigned>(n)); };
  Conv2d conv;
  conv.stride.along(axis) = 1 + below(height > 9 ? 3 : 1);
  conv.dilation.along(axis) = 1 + below(2);
  return conv;
}

// One input, one result, and between them layers whose windows have 1 to 4 rows; a third of them in
// blocks whose input is added. With axis 2 images have one row, and layers are computed on it or on
// a column of the same bytes.
TestGraph random_chain(std::mt19937& random, i64 axis) {
  const auto below = [&](i64 n) { return static_cast<i64>(random() % static_cast<unsigned>(n)); };
  TestGraph t;
  const i64 rows = 12 + below(30);
  ValueId x = t.input("x", axis == 1 ? Shape{1, rows, 3, 2} : Shape{1, 1, rows, 2});
  const auto layer = [&](ValueId from, bool same) {
    const i64 height = rows_of(t.g.type(from)), along = axis == 2 ? 1 + below(2) : axis;
    Conv2d conv = same ? Conv2d{} : random_convolution(random, height, along);
    i64 kernel = 1 + below(4);
    if (same) kernel = 2 * below(2) + 1;
    const i64 reach = (kernel - 1) * conv.dilation.along(along);
    i64 &before = conv.pad_before.along(along), &after = conv.pad_after.along(along);
    before = same ? reach / 2 : below(reach + 1), after = same ? reach / 2 : below(reach + 1);
    if (height + before + after < reach + 4) return from;
    const std::string name = fmt::format("layer{}", t.g.nodes.size());
    Shape filters{2, 1, 1, 2};
    filters[along] = kernel;
    const ValueId w =
        t.constant(name + "_w", filters, std::vector<float>(static_cast<size_t>(4 * kernel), 1));
    if (along == axis) return t.node(name, conv, {from, w});
    const ValueId column =
        t.node(name, conv, {t.node(name + "_column", Reshape{{1, height, 1, 2}}, {from}), w});
    return t.node(name + "_row", Reshape{{1, 1, rows_of(t.g.type(column)), 2}}, {column});
  };
  for (i64 k = 2 + below(4); k > 0; --k) {
    if (below(3) > 0) {
      x = layer(x, false);
      continue;
    }
    const ValueId first = layer(x, true);
    const ValueId second = layer(first, true);
    if (second != x) x = t.node(fmt::format("add{}", t.g.nodes.size()), Add{}, {second, x});
  }
  if (t.g.nodes.empty()) x = t.node("y", Clamp{{.low = 0}}, {x});
  t.output(x);
  return t;
}

struct Seen {
  i64 plans = 0, kept = 0, blocks = 0;
};

void check(const Graph& g, const RowSplit& split, Seen& seen) {
  const Uses uses(g);
  const std::optional<RowPlan> plan = plan_rows(g, uses, split);
  if (!plan) return;
  ++seen.plans;
  std::map<NodeId, Rows> held;
  std::map<NodeId, std::map<i64, i64>> times;  // how often each row is computed
  for (const std::vector<RowStep>& band : plan->bands) {
    if (!split.keep) held.clear();
    for (const RowStep& step : band) {
      ASSERT_GT(step.computed.count(), 0);
      if (step.kept.count() > 0) {
        ++seen.kept;
        const Rows before = held.at(step.node);
        ASSERT_LE(before.first, step.kept.first);
        ASSERT_GE(before.end, step.kept.end);
        ASSERT_EQ(step.held().count(), step.kept.count() + step.computed.count());
      }
      for (const ValueId v : g.nodes[step.node].inputs) {
        if (!has_rows(g, g.nodes[step.node], v)) continue;
        const Rows needed = needed_rows(g, g.nodes[step.node], v, step.computed).rows;
        const NodeId maker = uses.producer[behind_row_views(g, uses, v)];
        const bool is_inside =
            std::find(split.chain.begin(), split.chain.end(), maker) != split.chain.end();
        const Rows there = is_inside ? held.at(maker) : Rows{0, rows_of(g.type(v))};
        ASSERT_LE(there.first, needed.first);
        ASSERT_GE(there.end, needed.end);
      }
      held[step.node] = step.held();
      for (i64 row = step.computed.first; row < step.computed.end; ++row) ++times[step.node][row];
    }
  }
  for (const auto& [node, rows] : times) {
    if (!split.keep && node != split.chain.back()) continue;
    for (const auto& [row, count] : rows) ASSERT_EQ(count, 1) << node << " row " << row;
  }
  ASSERT_EQ(static_cast<i64>(times[split.chain.back()].size()),
            rows_of(g.type(g.nodes[split.chain.back()].outputs[0])));
}

Seen check_random_chains(i64 axis) {
  std::mt19937 random(20261127);
  Seen seen;
  for (int round = 0; round < 80; ++round) {
    const TestGraph t = random_chain(random, axis);
    const Uses uses(t.g);
    for (NodeId last = 0; last < static_cast<NodeId>(t.g.nodes.size()); ++last) {
      std::vector<NodeId> chain = chain_up_to(t.g, uses, last, 16);
      seen.blocks += is_binary(t.g.nodes[last].op) && chain.size() > 2;
      for (; !chain.empty(); chain.erase(chain.begin()))
        for (const i64 bands : {2, 3, 5, 9})
          for (const bool keep : {false, true})
            for (const bool upward : {false, true}) {
              SCOPED_TRACE(
                  fmt::format("round {}, up to {}, {} operators in {} bands, keep {}, upward {}",
                              round, last, chain.size(), bands, keep, upward));
              check(t.g, {chain, bands, keep, upward}, seen);
              if (testing::Test::HasFatalFailure()) return seen;
            }
    }
  }
  return seen;
}

TEST(RowPlan, EveryStepFindsItsRows) {
  const Seen seen = check_random_chains(1);
  EXPECT_GE(seen.plans, 4000);
  EXPECT_GE(seen.kept, 4000);
  EXPECT_GE(seen.blocks, 40);
}

TEST(RowPlan, EveryStepFindsItsColumns) {
  const Seen seen = check_random_chains(2);
  EXPECT_GE(seen.plans, 4000);
  EXPECT_GE(seen.kept, 4000);
  EXPECT_GE(seen.blocks, 40);
}

// Two 3x3 layers in four bands: a band of the first has two rows more than it gives on. They are
// computed again, or kept.
TEST(RowPlan, KeepsWhatTheWindowsShare) {
  TestGraph t;
  ValueId x = t.input("x", {1, 16, 5, 2});
  for (const char* name : {"first", "second"}) {
    Conv2d conv;
    conv.pad_before = conv.pad_after = {1, 1};
    x = t.node(name, conv,
               {x, t.constant(std::string(name) + "_w", {2, 3, 3, 2}, std::vector<float>(36, 1))});
  }
  t.output(x);
  const Uses uses(t.g);
  const i64 row = 5 * 2 * 9 * 2;
  const auto again = plan_rows(t.g, uses, {{0, 1}, 4, false}),
             kept = plan_rows(t.g, uses, {{0, 1}, 4, true});
  ASSERT_TRUE(again && kept);
  EXPECT_EQ(again->macs, (16 + 16 + 6) * row);
  EXPECT_EQ(again->copies, 0);
  EXPECT_EQ(kept->macs, (16 + 16) * row);
  EXPECT_EQ(kept->copies, 3);
  EXPECT_EQ(kept->copied_bytes, 3 * 2 * t.g.type(x).bytes() / 16);
}

}  // namespace
}  // namespace deuteron

// SPDX-License-Identifier: Apache-2.0
// Branches and loops become operators in a row.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "frontends/tflite/import.h"
#include "frontends/tflite/test_models.h"
#include "ir/verify.h"

namespace deuteron::tflite {
namespace {

using ::testing::ElementsAre;

struct Imported {
  std::optional<Graph> graph;
  std::vector<std::string> rules;
};
Imported graph_of(const std::vector<u8>& bytes) {
  auto owner = std::make_shared<std::vector<i64>>(bytes.size() / 8 + 1);
  std::memcpy(owner->data(), bytes.data(), bytes.size());
  Diagnostics diagnostics;
  Imported made;
  made.graph = import_tflite(std::as_bytes(std::span<const i64>(*owner)).first(bytes.size()), owner,
                             "net.tflite", diagnostics);
  EXPECT_EQ(made.graph ? find_fault(*made.graph) : std::nullopt, std::nullopt);
  for (const Diagnostic& d : diagnostics.list()) made.rules.push_back(d.rule);
  return made;
}

template <class T>
i64 count(const Graph& g) {
  return std::ranges::count_if(g.nodes,
                               [](const Node& node) { return std::holds_alternative<T>(node.op); });
}
i64 constants(const Graph& g) {
  return std::ranges::count_if(g.values,
                               [](const GraphValue& v) { return v.constant.has_value(); });
}

TEST(TfliteSubgraphs, ATurnOfALoopIsWhatIsNotMadeOfConstants) {
  for (const i32 turns : {0, 1, 5}) {
    const Imported made = graph_of(model_of_subgraphs(turns));
    ASSERT_TRUE(made.graph);
    EXPECT_EQ(count<Add>(*made.graph), 1 + 2 * turns) << "one of a branch";
    EXPECT_EQ(constants(*made.graph), turns == 0 ? 1 : 2) << "those of the turns are one";
    EXPECT_EQ(made.graph->sources.size(), 2u);
  }
}

TEST(TfliteSubgraphs, TurnAsOftenAsAProgramMayHold) {
  EXPECT_TRUE(graph_of(model_of_subgraphs(4096)).graph);
  EXPECT_THAT(graph_of(model_of_subgraphs(4097)).rules, ElementsAre("tflite.while.turns"));
}

}  // namespace
}  // namespace deuteron::tflite

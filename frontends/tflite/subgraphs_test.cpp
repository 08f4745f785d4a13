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
  made.graph = import_tflite(std::as_bytes(std::span<const i64>(*owner)).first(bytes.size()), owner, "net.tflite", diagnostics);
  EXPECT_EQ(made.graph ? find_fault(*made.graph) : std::nullopt, std::nullopt);
  for (const Diagnostic& d : diagnostics.list()) made.rules.push_back(d.rule);
  return made;
}

template <class T>
i64 count(const Graph& g) {
  return std::ranges::count_if(g.nodes, [](const Node& node) { return std::holds_alternative<T>(node.op); });
}
i64 constants(const Graph& g) {
  return std::ranges::count_if(g.values, [](const GraphValue& v) { return v.constant.has_value(); });
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

// An SVDF in a subgraph keeps its state from turn to turn, and from call to call.
TEST(TfliteSubgraphs, AStateOfATurnIsThatOfTheNextOne) {
  Writer w;
  auto& b = w.builder();
  const auto real = [&](const Shape& shape, const char* name, bool kept = false) {
    return w.add(shape, TensorType::FLOAT32, {}, 0, 0, 0, name, kept);
  };
  const auto constant = [&](const Shape& shape) {
    const std::vector<float> data(static_cast<size_t>(numel(shape)), 0.5f);
    return w.add(shape, TensorType::FLOAT32, {}, 0, 0, w.buffer(data.data(), data.size() * sizeof(float)), "constant");
  };
  const auto number = [&](const char* name) { return w.add({1}, TensorType::INT32, {}, 0, 0, 0, name); };
  const i32 x = real({1, 2}, "x"), n = number("n"), y = real({1, 2}, "y");
  w.op(BuiltinOperator::WHILE, {w.constant({0}), x}, std::vector<i32>{n, y}, BuiltinOptions::WhileOptions, CreateWhileOptions(b, 1, 2));
  w.finish_subgraph({x}, {y});
  const i32 i = number("i"), unread = real({1, 2}, "unread"), less = w.add({1}, TensorType::BOOL, {}, 0, 0, 0, "less");
  w.op(BuiltinOperator::LESS, {i, w.constant({3})}, less);
  w.finish_subgraph({i, unread}, {less});
  const i32 j = number("j"), h = real({1, 2}, "h"), next = number("next"), now = real({1, 2}, "now"), state = real({1, 6}, "state", true);
  w.op(BuiltinOperator::ADD, {j, w.constant({1})}, next, BuiltinOptions::AddOptions, CreateAddOptions(b));
  w.op(BuiltinOperator::SVDF, {h, constant({2, 2}), constant({2, 3}), constant({2}), state}, now, BuiltinOptions::SVDFOptions,
       CreateSVDFOptions(b, 1));
  const Imported made = graph_of(w.finish({j, h}, {next, now}));
  EXPECT_THAT(made.rules, ElementsAre());
  ASSERT_TRUE(made.graph);
  ASSERT_EQ(made.graph->states.size(), 1u);
  EXPECT_EQ(count<Linear>(*made.graph), 3);
  // The last turn leaves what the next call begins with.
  const NodeId last = Uses(*made.graph).producer[made.graph->outputs[1].value];
  EXPECT_GT(last, Uses(*made.graph).producer[made.graph->outputs[0].value] - 8);
}

}  // namespace
}  // namespace deuteron::tflite

// SPDX-License-Identifier: Apache-2.0
// Blocks under torch.no_grad() and torch.autocast: graphs that an operator calls.
#include <cmath>

#include "frontends/pt2/operators/test_run.h"

namespace deuteron::pt2 {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

json node_of(const std::string& target, const std::string& x, const std::string& y) {
  return {{"target", "torch.ops." + target},
          {"inputs", json::array({{{"name", "self"}, {"arg", as_tensor(x)}, {"kind", 1}}})},
          {"outputs", json::array({as_tensor(y)})},
          {"metadata", json::object()},
          {"name", y}};
}

// A graph of float tensors of shape [2], under `inside`; the names are the graph's own.
json graph_of(const std::vector<std::string>& inputs, const json& nodes,
              const std::vector<std::string>& outputs) {
  json g = {{"inputs", json::array()},
            {"outputs", json::array()},
            {"nodes", nodes},
            {"tensor_values", json::object()}};
  for (const std::string& name : inputs)
    g["inputs"].push_back(as_tensor(name)),
        g["tensor_values"][name] = TestModel::meta({2}, kF32, {1});
  for (const std::string& name : outputs) g["outputs"].push_back(as_tensor(name));
  for (const json& n : nodes)
    for (const json& out : n["outputs"])
      g["tensor_values"][out["as_tensor"]["name"].get<std::string>()] =
          TestModel::meta({2}, kF32, {1});
  return {{"as_graph", {{"name", "submod"}, {"graph", g}}}};
}

void call_block(TestModel& m, const json& graph, const std::vector<std::string>& operands,
                const std::vector<TestModel::Out>& results) {
  std::vector<std::pair<std::string, json>> arguments{{"", as_bool(false)}, {"", graph}};
  for (const std::string& name : operands) arguments.emplace_back("", as_tensor(name));
  m.node("higher_order.wrap_with_set_grad_enabled", results, arguments);
}

std::vector<std::vector<float>> run(const TestModel& m) { return results_of(m, {{-1, 2}}); }

// Inside, `x` is another tensor than outside, and so is `y`.
TEST(Blocks, StandInThePlaceOfTheirCall) {
  TestModel m;
  m.input("x", {2});
  m.node("aten.relu.default", {{"y", {2}}}, {{"self", as_tensor("x")}});
  call_block(
      m,
      graph_of({"arg"},
               {node_of("aten.neg.default", "arg", "x"), node_of("aten.exp.default", "x", "y"),
                node_of("aten.neg.default", "y", "z")},
               {"z"}),
      {"y"}, {{"made", {2}}});
  m.node("aten.add.Tensor", {{"sum", {2}}},
         {{"self", as_tensor("made")}, {"other", as_tensor("x")}});
  m.output("sum");
  EXPECT_THAT(run(m).at(0),
              ElementsAre(testing::FloatEq(-2.0f), testing::FloatEq(2 - std::exp(-2.0f))));
}

TEST(Blocks, MayPassOnWhatTheyAreGiven) {
  TestModel m;
  m.input("x", {2});
  call_block(m,
             graph_of({"a"}, json::array({node_of("aten.neg.default", "a", "b")}), {"a", "b", "b"}),
             {"x"}, {{"same", {2}}, {"n", {2}}, {"again", {2}}});
  for (const char* name : {"same", "n", "again"}) m.output(name);
  EXPECT_THAT(run(m), ElementsAre(ElementsAre(-1, 2), ElementsAre(1, -2), ElementsAre(1, -2)));
}

TEST(Blocks, StandInEachOther) {
  TestModel m, inner;
  m.input("x", {2});
  call_block(inner, graph_of({"a"}, json::array({node_of("aten.neg.default", "a", "b")}), {"b"}),
             {"a"}, {{"c", {2}}});
  call_block(
      m,
      graph_of({"a"}, json::array({inner.node_json(0), node_of("aten.relu.default", "c", "b")}),
               {"b"}),
      {"x"}, {{"y", {2}}});
  m.output("y");
  EXPECT_THAT(run(m).at(0), ElementsAre(1, 0));
}

// Deeper than any model, as a damaged or hostile file may be: refused, not followed.
TEST(Blocks, TooManyInEachOtherAreRefused) {
  TestModel m;
  m.input("x", {2});
  json graph = graph_of({"a"}, json::array({node_of("aten.neg.default", "a", "b")}), {"b"});
  for (int depth = 0; depth < 40; ++depth) {
    TestModel around;
    call_block(around, graph, {"a"}, {{"b", {2}}});
    graph = graph_of({"a"}, json::array({around.node_json(0)}), {"b"});
  }
  call_block(m, graph, {"x"}, {{"y", {2}}});
  m.output("y");
  EXPECT_THAT(refusal_of(m),
              testing::AnyOf(HasSubstr("[pt2.operator.unknown]"), HasSubstr("[pt2.model.json]")));
}

TEST(Blocks, WithOtherOperandsThanTheirGraphTakesAreRefused) {
  TestModel m;
  m.input("x", {2});
  call_block(m, graph_of({"a"}, json::array({node_of("aten.neg.default", "a", "b")}), {"b"}),
             {"x", "x"}, {{"y", {2}}});
  m.output("y");
  EXPECT_THAT(refusal_of(m), HasSubstr("[pt2.operator.unknown]"));
}

}  // namespace
}  // namespace deuteron::pt2

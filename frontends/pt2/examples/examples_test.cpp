// SPDX-License-Identifier: Apache-2.0
// Every operator that can be imported has an example, which imports; and the reader of their text.
#include "frontends/pt2/examples/examples.h"

#include <gmock/gmock.h>

#include <set>

#include "frontends/pt2/examples/program_text.h"
#include "frontends/pt2/operators/import_table.h"
#include "ir/verify.h"

namespace deuteron::pt2 {
namespace {

std::set<std::string_view> imported_targets() {
  std::set<std::string_view> targets;
  for (const auto& tables : {import_tables(), complex_import_tables()})
    for (const ImportRows rows : tables)
      for (const ImportRow& row : rows) targets.insert(row.target);
  return targets;
}

TEST(TorchExamples, AreThereForEveryOperatorThatIsImported) {
  std::set<std::string_view> shown;
  for (const TorchExample& example : torch_examples())
    EXPECT_TRUE(shown.insert(example.target).second || !example.form.empty()) << example.target;
  for (const std::string_view target : imported_targets())
    EXPECT_TRUE(shown.contains(target))
        << target << " has no example: run frontends/pt2/examples/make_examples.py";
  for (const std::string_view target : shown)
    EXPECT_TRUE(imported_targets().contains(target))
        << target << " is not imported: run frontends/pt2/examples/make_examples.py";
}

TEST(TorchExamples, CallTheirOperatorAndImport) {
  for (const TorchExample& example : torch_examples()) {
    EXPECT_FALSE(example.call().empty()) << example.target;
    Diagnostics diagnostics;
    const std::optional<Graph> graph = import_example(example, diagnostics);
    std::string said;
    for (const Diagnostic& d : diagnostics.list()) said += format_diagnostic(d) + "\n";
    ASSERT_TRUE(graph) << said;
    EXPECT_EQ(find_fault(*graph), std::nullopt) << example.target;
    EXPECT_FALSE(graph->inputs.empty())
        << example.target << " has nothing to compute on the device";
  }
}

TEST(ProgramText, HasEveryKindOfArgument) {
  const TextModel m = model_from_text(
      "# what it is\ninput x : f32[2,3]\nparameter w : s64[2] 4,-5\n"
      "a, b = aten.f.default(self=x, index=w, k=-1, r=0.5, e=1e-05, t=true, n=none, s=\"a,b\", "
      "i=[1,2], v=[0.5], l=[x,w,none], d=s8) : f32[2,3], s64[]\n"
      "c = aten.g.default(a=x) :\noutput a\n",
      "name");
  ASSERT_EQ(m.program.nodes.size(), 2u);
  const ProgramNode& node = m.program.nodes[0];
  EXPECT_EQ(node.target, "aten.f.default");
  EXPECT_THAT(node.outputs, testing::ElementsAre("a", "b"));
  using Kind = Argument::Kind;
  std::vector<Kind> kinds;
  for (const auto& [name, argument] : node.arguments) kinds.push_back(argument.kind);
  EXPECT_THAT(kinds, testing::ElementsAre(Kind::tensor, Kind::tensor, Kind::integer, Kind::real,
                                          Kind::real, Kind::boolean, Kind::none, Kind::text,
                                          Kind::integers, Kind::reals, Kind::tensors, Kind::dtype));
  EXPECT_EQ(node.arguments[1].second.text, "p_w");
  EXPECT_EQ(node.arguments[7].second.text, "a,b");
  EXPECT_THAT(node.arguments[8].second.integers, testing::ElementsAre(1, 2));
  EXPECT_THAT(node.arguments[10].second.names, testing::ElementsAre("x", "p_w", ""));
  EXPECT_TRUE(m.program.nodes[1].outputs.empty());
  ASSERT_EQ(m.archive->entries.size(), 1u);
  const auto* numbers = reinterpret_cast<const i64*>(m.archive->entries[0].bytes.data());
  EXPECT_EQ(numbers[0], 4);
  EXPECT_EQ(numbers[1], -5);
}

}  // namespace
}  // namespace deuteron::pt2
